"""The page: one file that shows all runs, with filters, ranked tables and curves."""

from wola.report.page.write import write_page

__all__ = ["write_page"]
