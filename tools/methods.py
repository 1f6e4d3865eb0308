"""docs/methods.md: every method that a scenario can name, from the docstrings and the code.

python -m tools.methods
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter
from pathlib import Path
from typing import Any

from tools.docstrings import Described, described, markdown
from wola.aggregation import Rule
from wola.attacks import Attack, LabelAttack
from wola.cli.listing import default_text, signature
from wola.ground import write_whole
from wola.labels import Objective
from wola.parts import Kind
from wola.parts.parameters import parameters_of
from wola.training import PARTS

#: A bar that ends no cell of a table.
BAR = r"\|"

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "methods.md"

#: The kinds that are told, in the order of the page, with what each is.
KINDS = {
    "aggregator": (
        "Rules",
        "A rule makes one update of n. x_i is the update of worker i, (d,); f of n are Byzantine "
        "at most. *Accepts* is what `max_byzantine` allows, not what is proven; at n = 17, the "
        "paper's, it is given as a number.",
    ),
    "mixing": (
        "Mixings",
        "A mixing goes before a rule and makes m mixtures of n updates, by a matrix (m, n).",
    ),
    "attack": (
        "Attacks",
        "An attack says what f Byzantine workers send when they have seen the h honest updates; a "
        "label attack what they train on.",
    ),
    "loss": (
        "Losses",
        "A loss is class weights w, shifts b, margins m and factors g, made of a worker's label "
        "counts N_i and the objective q: (1/B) sum_k w^y CE(g z + b - m^y e_y, y).",
    ),
    "objective": ("Objectives", "An objective is the label distribution q that is trained for."),
    "objective_attack": (
        "Attacks on the objective",
        "What Byzantine workers report as their label distribution.",
    ),
    "partition": ("Partitions", "A partition says which samples each worker holds."),
}

NEEDS = {
    "mean": "the server's own update, from data of its own",
    "classes": "an update of the server's for each class, from data of its own",
    "losses": "losses or gradients on data of the server's own",
    "labels": "the label distributions that the workers report",
}

REMEMBERS = {
    "nothing": "",
    "workers": "a memory of each worker",
    "pairs": "a memory of each pair of workers",
    "aggregate": "a memory of its last aggregate",
}


def page() -> str:
    """The whole page."""
    top, left_out = ((HERE / f"methods_{name}.md").read_text() for name in ("top", "left_out"))
    return "\n".join([top, *_contents(), *_sections(), left_out])


def _contents() -> Iterator[str]:
    for field, (title, _) in KINDS.items():
        names = ", ".join(
            f"[`{name}`](#{anchor(field, name)})" for name in PARTS.kinds[field].names
        )
        yield f"- **[{title}](#{title.lower().replace(' ', '-')})**: {names}"
    yield ""


def _sections() -> Iterator[str]:
    for field, (title, about) in KINDS.items():
        yield f"## {title}\n\n{about}\n"
        kind = PARTS.kinds[field]
        for name, part in kind.names.items():
            yield "\n\n".join(_section(field, kind, name, part)) + "\n"


def _section(field: str, kind: Kind, name: str, part: Any) -> Iterator[str]:
    told = described(part)
    room = ".".join(part.__module__.split(".")[:2])
    yield f'<a id="{anchor(field, name)}"></a>\n### {name}'
    yield f"`{signature(name, part, kind.later)}`, `{room}.{part.__name__}`"
    yield markdown(told.line)
    yield from map(markdown, told.paragraphs)
    known = {key: each for key, each in parameters_of(part).items() if key not in kind.later}
    if rows := [_row(known, *row) for row in told.defaults(list(known)).items()]:
        yield "\n".join(["| parameter | default | from |\n|---|---|---|", *rows])
    yield "\n".join(f"- *{label}*: {text}" for label, text in _facts(part, told))


def _row(known: dict[str, Parameter], names: tuple[str, ...], source: str) -> str:
    keys = ", ".join(f"`{name}`" for name in names)
    given = [known[name].default for name in names if known[name].default is not Parameter.empty]
    values = ", ".join(f"`{default_text(value)}`" for value in given)
    cells = (keys, values, markdown(source).rstrip("."))
    return f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"


def _facts(part: Any, told: Described) -> Iterator[tuple[str, str]]:
    if issubclass(part, Rule):
        yield "Accepts", accepted(part())
    yield "Needs", _needs(part, told)
    yield "Cost", markdown(told.labelled["Cost"])
    yield "Reference", markdown(told.labelled["Reference"])


def _needs(part: Any, told: Described) -> str:
    found: list[str] = []
    if issubclass(part, Rule):
        found += [NEEDS[need] for need in sorted(part.needs)] + [REMEMBERS[part().remembers]]
    if issubclass(part, LabelAttack):
        found.append("data of the attackers' own")
    if issubclass(part, Attack) and part.fresh is not Attack.fresh:
        found.append("a memory from round to round")
    if issubclass(part, Objective) and part.needs_reports:
        found.append(NEEDS["labels"])
    found.append(markdown(told.labelled.get("Needs", "")).rstrip("."))
    if draws := told.labelled.get("Draws"):
        found.append(f"a generator, which draws {markdown(draws).rstrip('.')}")
    return "; ".join(filter(None, found)).strip() + "." if any(found) else "nothing else."


#: How many Byzantine workers of n a rule may accept, and how that is written.
ACCEPTED: dict[str, Callable[[int], int]] = {
    "f < n/2": lambda n: (n - 1) // 2,
    "f < n": lambda n: n - 1,
    "f < n/2, n >= 2": lambda n: min((n - 1) // 2, n - 2),
    "n >= 4f + 3, or f = 0": lambda n: max(0, (n - 3) // 4),
}


def accepted(rule: Rule) -> str:
    """What `max_byzantine` allows, as it is found by asking for many n; with ten classes too.

    >>> from wola.aggregation import BOBA, Krum
    >>> accepted(Krum())
    'f < n/2; f <= 8 at n = 17.'
    >>> accepted(BOBA())
    'f < n/2; f <= 8 at n = 17, with 10 classes f <= 7.'
    """
    numbers = range(1, 60)
    most = [rule.max_byzantine(n) for n in numbers]
    words = [text for text, of in ACCEPTED.items() if [of(n) for n in numbers] == most]
    if not words:
        last = next(n for n in numbers if rule.max_byzantine(n) < (n - 1) // 2) - 1
        words = [f"f < n/2 up to n = {last}, fewer beyond"]
    text = f"{words[0]}; f <= {most[16]} at n = 17"
    with_classes = [f for f in range(most[16] + 1) if _takes(rule, 17, f, classes=10)]
    if not with_classes:
        return f"{text}, with 10 classes none."
    return (
        f"{text}."
        if with_classes[-1] == most[16]
        else (f"{text}, with 10 classes f <= {with_classes[-1]}.")
    )


def _takes(rule: Rule, n: int, f: int, *, classes: int) -> bool:
    try:
        rule.check_classes(n, f, classes)
    except ValueError:
        return False
    return True


def anchor(field: str, name: str) -> str:
    """Where the page tells of a part.

    >>> anchor("objective_attack", "dirac")
    'objective-attack-dirac'
    """
    return f"{field.replace('_', '-')}-{name}"


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
