"""Parts: what a scenario is put together from, as texts and as objects."""

from wola.parts.catalogue import Catalogue
from wola.parts.grammar import Call, GrammarError, parse, part_name, written
from wola.parts.kind import Kind, PartError, Prepared, Unimportable

__all__ = [
    "Call",
    "Catalogue",
    "GrammarError",
    "Kind",
    "PartError",
    "Prepared",
    "Unimportable",
    "parse",
    "part_name",
    "written",
]
