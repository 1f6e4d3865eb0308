"""No part that a scenario can name is missing from what holds parts to their promises."""

import ast
from functools import cache
from pathlib import Path

import pytest
import torch

from tests.aggregation.knowing_rules import KNOWING
from tests.definitions import DEFINITIONS
from tests.parts.test_catalogue import OTHER
from tests.rules import MIXINGS, RULES
from tests.testing.test_attacks import LIBRARY
from tools.docstrings import described
from tools.methods import KINDS, PAGE
from wola.aggregation import FLTrust, Krum, Rule
from wola.attacks import Attack, LabelAttack, SignFlip
from wola.cli.listing import catalogue, kind_name
from wola.mixing import NNM, Mixing
from wola.parts import Kind, part_name
from wola.parts.parameters import parameters_of
from wola.training import PARTS

TESTS = Path(__file__).parent

METHODS = [(kind, name, part) for kind in KINDS for name, part in PARTS.kinds[kind].names.items()]
#: What goes through `wola.testing`, by the entries of the tables that its tests run over.
IN_BATTERY = {
    *(type(entry.rule) for entry in (*RULES, *KNOWING)),
    *(type(entry.mixing) for entry in MIXINGS),
    *(type(attack) for attack, _ in LIBRARY),
}
#: What is compared with a reference of tests/rules.py.
WITH_REFERENCE = {*(type(e.rule) for e in RULES), *(type(e.mixing) for e in MIXINGS)}


@cache
def page():
    return PAGE.read_text(encoding="utf-8")


@cache
def functions(file):
    """The functions of a file of tests, and all names that occur in it."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return defined, names | {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}


def in_battery(part):
    # An attack that remembers goes through the battery as what a run makes of it.
    return part in IN_BATTERY or (issubclass(part, Attack) and type(part().fresh()) in IN_BATTERY)


def missing(kind, name, part):
    """Where a part is missing: battery, definition, `wola list`, manual, table of texts."""
    places = set()
    if issubclass(part, Rule | Mixing | Attack) and not in_battery(part):
        places.add("battery")
    if part not in WITH_REFERENCE:
        file, test = DEFINITIONS.get((kind, name), ("definitions.py", ""))
        defined, names = functions(file)
        if test not in defined or part.__name__ not in names:
            places.add("definition")
    if name not in map(part_name, catalogue()[kind_name(kind)]):
        places.add("list")
    if f'<a id="{kind.replace("_", "-")}-{name}"></a>\n### {name}\n' not in page():
        places.add("manual")
    known = [key for key in parameters_of(part) if key not in PARTS.kinds[kind].later]
    if any(f"{key}=" not in OTHER.get((kind, name), "") for key in known):
        places.add("grammar")
    return places


@pytest.mark.parametrize(("kind", "name", "part"), METHODS, ids=lambda value: str(value))
def test_no_part_is_missing_from_anything(kind, name, part):
    assert missing(kind, name, part) == set()


def test_no_definition_is_told_of_a_part_that_is_not_there():
    registered = {(kind, name) for kind, name, _ in METHODS}
    assert set(DEFINITIONS) <= registered


def test_every_kind_of_method_is_told():
    assert set(PARTS.kinds) - set(KINDS) == {
        *("dataset", "model", "noise", "schedule", "server", "server_data")
    }


def asks_for_a_generator(part):
    """Whether a part that is called without a generator says that it needs one."""
    made = part()
    updates = torch.randn(9, 10_001, generator=torch.Generator().manual_seed(1))
    try:
        if isinstance(made, Attack):
            made.fresh()(updates, 2, rule=Krum())
        elif isinstance(made, Rule | Mixing):
            made(updates, 2 if isinstance(made, Mixing) else 1)
        else:
            made(torch.softmax(updates[:, :3], 1), 2)
    except ValueError as error:
        if "generator" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize(
    "part",
    [
        part
        for kind, _, part in METHODS
        if kind in ("aggregator", "mixing", "attack", "objective_attack")
        and not issubclass(part, LabelAttack)
        and not getattr(part, "needs", ())
    ],
)
def test_what_is_said_to_draw_asks_for_a_generator_and_nothing_else_does(part):
    assert asks_for_a_generator(part) == ("Draws" in described(part).labelled)


class NewRule(Krum):
    """A rule of which nobody has heard."""


class NewMixing(NNM):
    """A mixing of which nobody has heard."""


class NewAttack(SignFlip):
    """An attack of which nobody has heard."""


@pytest.mark.parametrize(
    ("kind", "part", "places"),
    [
        ("aggregator", NewRule, {"battery", "definition", "manual", "grammar"}),
        ("mixing", NewMixing, {"battery", "definition", "manual"}),
        ("attack", NewAttack, {"battery", "definition", "manual"}),
    ],
)
def test_a_part_that_was_only_registered_is_missed_everywhere(kind, part, places, monkeypatch):
    known = PARTS.kinds[kind]
    assert missing(kind, "new", part) == places | {"list"}
    more = Kind(known.name, {**known.names, "new": part}, known.base, known.none, known.chain)
    monkeypatch.setitem(PARTS.kinds, kind, more)
    assert missing(kind, "new", part) == places


@pytest.mark.parametrize(
    "told",
    [
        ("aggregation/test_monna.py", "test_it_is_its_definition"),
        ("aggregation/test_server_rules.py", "test_nothing"),
    ],
)
def test_a_definition_is_a_test_that_is_there_and_knows_the_part(told, monkeypatch):
    assert missing("aggregator", "fltrust", FLTrust) == set()
    monkeypatch.setitem(DEFINITIONS, ("aggregator", "fltrust"), told)
    assert missing("aggregator", "fltrust", FLTrust) == {"definition"}
