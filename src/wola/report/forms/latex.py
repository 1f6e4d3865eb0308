r"""Tables as LaTeX with booktabs and colours, and a document that shows them all."""

import re
from collections.abc import Iterable

from wola.report.layout import Cell, Table

#: What a document needs before tables can be put into it; the colours are the paper's.
PREAMBLE = r"""\usepackage{amssymb}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{xcolor}
\definecolor{wolafirst}{RGB}{245, 185, 0}
\definecolor{wolasecond}{RGB}{5, 145, 250}
\definecolor{wolathird}{RGB}{230, 57, 80}
\newcommand{\wolafirst}[1]{\textbf{\textcolor{wolafirst}{#1}}}
\newcommand{\wolasecond}[1]{\textcolor{wolasecond}{\underline{#1}}}
\newcommand{\wolathird}[1]{\textcolor{wolathird}{\textit{#1}}}
\newcommand{\wolamissing}[1]{\textcolor{gray}{#1}}
\newcommand{\wolaworst}[1]{\textbf{\textcolor{wolathird}{#1}}$\blacktriangledown$}
"""

_SPECIAL = {
    # Set as mathematics, since the text fonts of a small TeX lack some of these signs.
    **{sign: f"${sign}$" for sign in "<>|"},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"$\backslash$",
    "~": r"$\sim$",
    "^": r"$\wedge$",
    "τ": r"$\tau$",
    "✓": r"$\checkmark$",
    "¹": r"\wolafirst{first}",
    "²": r"\wolasecond{second}",
    "³": r"\wolathird{third}",
    "‡": r"$^\ddagger$",
    "▼": r"$\blacktriangledown$",
}
_COMMANDS = {1: "wolafirst", 2: "wolasecond", 3: "wolathird"}


def latex(table: Table) -> str:
    r"""A table environment, to be put into a document with `PREAMBLE`.

    The first of a column is bold, the second underlined and the third italic, in the colours of
    the paper, so that print without colour tells them apart as well.
    """
    width = len(table.columns)
    groups = " & ".join(f"\\multicolumn{{{n}}}{{c}}{{{escape(name)}}}" for name, n in table.groups)
    heads = " & ".join(escape(name) for _, name in table.columns)
    lines = [
        f"& {groups} \\\\",
        *_rules_under(table),
        f"{escape(table.rows.capitalize())} & {heads} \\\\",
    ]
    for block in table.blocks:
        lines.append(r"\midrule")
        if block.title:
            lines.append(f"& \\multicolumn{{{width}}}{{c}}{{{escape(block.title)}}} \\\\")
            lines.append(r"\midrule")
        for name, row in block.rows.items():
            lines.append(" & ".join([_strategy(name), *map(_shown, row)]) + r" \\")
    caption = escape(". ".join([table.title, *map(_sentence, table.notes)]) + ".")
    return "\n".join(
        [
            r"\begin{table*}",
            r"\centering",
            f"\\caption{{{caption}}}",
            f"\\label{{tab:{table.name}}}",
            r"\medskip",
            # Only wide tables are made smaller; none is blown up.
            r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{l{'r' * width}}}",
            r"\toprule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table*}",
            "",
        ]
    )


def latex_document(tables: Iterable[Table]) -> str:
    """A whole document with the tables, ready for pdflatex."""
    # LaTeX refuses to keep more than some tables waiting for a place.
    body = "\\clearpage\n".join(map(latex, tables))
    paper = "\\documentclass[a4paper]{article}\n\\usepackage[margin=1.5cm]{geometry}\n"
    return f"{paper}{PREAMBLE}\\begin{{document}}\n{body}\\end{{document}}\n"


def escape(text: str) -> str:
    r"""Text as LaTeX writes it.

    >>> print(escape("accuracy in %, alpha = 0.3"))
    accuracy in \%, $\alpha$ = 0.3
    >>> print(escape("f = 2"))
    $f$ = 2
    """
    written = "".join(_SPECIAL.get(sign, sign) for sign in text)
    written = re.sub(r"\balpha\b", r"$\\alpha$", written)
    return re.sub(r"\bf(?= = \d)", "$f$", written)


def _rules_under(table: Table) -> list[str]:
    start, rules = 2, []
    for _, width in table.groups:
        rules.append(f"\\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return rules


def _strategy(name: str) -> str:
    # A lone minus sign at the beginning of a row would be taken for a dash of the text.
    return "$-$" if name == "-" else escape(name).replace("-dagger", r"$^\dagger$")


def _sentence(note: str) -> str:
    return note if note.startswith("n/m") else note[:1].upper() + note[1:]


def _shown(cell: Cell) -> str:
    other = "wolamissing" if cell.missing else "wolaworst" if cell.worst else None
    command = _COMMANDS.get(cell.rank or 0, other)
    text = escape(cell.text).replace("-", "$-$")
    return f"\\{command}{{{text}}}" if command else text
