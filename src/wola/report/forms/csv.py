"""Tables as CSV: the numbers unrounded, a line per cell."""

from wola.report.layout import Table


def csv(table: Table) -> str:
    """The data of a table, with a header; what is missing is empty."""
    return table.data.write_csv()
