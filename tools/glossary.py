"""docs/glossary.md: symbols, words, abbreviations, strategies and fields, a line each.

What a docstring says is taken from it, and what the page of a report says from there.

python -m tools.glossary
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.docstrings import described, markdown
from tools.methods import anchor
from wola.ground import write_whole
from wola.report.page.glossary import WORDS, field_lines, strategy_line
from wola.training import PARTS, STRATEGIES

PAGE = Path(__file__).parent.parent / "docs" / "glossary.md"

TOP = """# Glossary

What the symbols, words and short names of this manual, the tables and the page of a report mean.
Made by `make methods`; [Methods](methods.md) tells each rule, attack and loss in full.
"""

SYMBOLS = {
    "n": "The number of workers, Byzantine ones included. The paper has 17.",
    "f": "How many of the n may be Byzantine at most. A rule is told f; who they are it is not.",
    "h": "The number of honest workers, n - f.",
    "d": "The number of parameters of the model, the length of an update.",
    "C": "The number of classes.",
    "B": "The number of samples in a batch.",
    "x_i": "The update that worker i sends, (d,): in a simulated run its momentum.",
    "X, G": "The updates as a matrix (n, d), and their inner products X Xᵀ (n, n).",
    "w": "Weights: of the workers in an aggregate, (n,), or of the classes in a loss, (C,).",
    "y": "The class of a sample; q^y is the entry of q for that class.",
    "z": "The logits of a sample, (C,); for ALIE how many standard deviations the lie is off.",
    "N_i^c": "How many samples of class c worker i holds.",
    "p_i": "The label distribution of worker i: N_i^c over all its samples.",
    "p": "The label distribution of all honest workers together.",
    "q": "The objective: the label distribution that the workers train for, the same for all.",
    "alpha": "The parameter of the Dirichlet distribution that each worker's label mix is drawn "
    "from, over the classes: 3 is mild, 0.3 strong.",
    "beta": "The share of the old momentum that a worker keeps: m = beta m + (1 - beta) g.",
    "theta": "The parameters of the model, (d,).",
    "nu": "The distance below which a smoothed geometric median treats updates as the mean does.",
    "R": "The aggregate, (d,): theta moves by -lr R.",
}

MORE_WORDS = {
    "aggregate": "The one update that a rule makes of the n that arrived.",
    "aggregator": "The same as a rule.",
    "attack": "What Byzantine workers send, or which labels they train on.",
    "breakdown point": "The share of liars from which on a rule can be moved anywhere.",
    "chain": "Mixings and then a rule: `nnm + multi-krum` in text, joined by a bar in Python.",
    "federation": "A server and its workers: simulated, or real ones on Flower.",
    "Gram space": "Where rules that go by distances compute: on inner products of the updates, n "
    "times n numbers instead of n times d.",
    "honest worker": "A worker that does what it was asked to do, on its own data.",
    "label attack": "An attack whose workers train as they should, on false labels or chosen data.",
    "label skew": "That the label distributions p_i of the workers differ.",
    "mixing": "What goes before a rule and makes m mixtures of n updates; elsewhere it is called a "
    "pre-aggregation.",
    "objective attack": "What Byzantine workers report as their label distribution.",
    "one-class worker": "A worker whose samples all have the same label.",
    "part": "Whatever a scenario names: a rule, mixing, attack, loss, objective, partition, model, "
    "dataset, schedule or server step.",
    "partial participation": "That only some of the workers, drawn anew, take part in a round.",
    "partition": "Which samples each worker holds.",
    "reference": "What a server computes on clean data of its own, for the rules that need it.",
    "report": "The label distribution that a worker claims to have; also the tables, figures and "
    "page made from runs.",
    "room": "A subpackage of wola, such as `wola.aggregation`.",
    "round": "One step of training: workers send updates, the server makes one of them.",
    "rule": "What makes one update of n: a robust mean.",
    "run": "One scenario, carried out, with its metrics.",
    "scenario": "All that decides a run: data, partition, model, workers, liars, loss, rule, "
    "attack, optimiser, seed.",
    "store": "A folder of runs, each whole or not there at all.",
    "tie": "That two updates are equally good for a choice. What is tied shares the weight.",
    "update": "What a worker sends: a vector of d numbers to be subtracted from the model.",
    "worst case": "The same as worst.",
}

#: Short names of the paper, its tables and the literature: what they stand for, and the part.
ABBREVIATIONS = {
    "ALIE": ("a little is enough", "attack", "alie"),
    "ARC": ("adaptive robust clipping", "mixing", "arc"),
    "BKT": ("Bucketing", "mixing", "bucketing"),
    "CAF": ("covariance-bound agnostic filter", "aggregator", "caf"),
    "CC": ("centred clipping", "aggregator", "centered-clipping"),
    "CGE": ("comparative gradient elimination", "aggregator", "cge"),
    "CWMed": ("coordinate-wise median", "aggregator", "median"),
    "CwTM": ("coordinate-wise trimmed mean", "aggregator", "trimmed-mean"),
    "DnC": ("divide and conquer", "aggregator", "dnc"),
    "ERR": ("error-rate-based rejection", "aggregator", "err"),
    "FOE": ("fall of empires", "attack", "foe"),
    "FoundFL": ("FoundationFL", "mixing", "foundation-fl"),
    "GM": ("geometric median", "aggregator", "geometric-median"),
    "LF": ("label flip", "attack", "lf"),
    "LFR": ("loss-function-based rejection", "aggregator", "lfr"),
    "MDA": ("minimum diameter averaging", "aggregator", "mda"),
    "MeaMed": ("mean around the median", "aggregator", "meamed"),
    "NNM": ("nearest-neighbour mixing", "mixing", "nnm"),
    "SF": ("sign flip", "attack", "sf"),
    "SMEA": ("smallest maximum eigenvalue averaging", "aggregator", "smea"),
    "WoLA": ("Worker Label Alignment", "loss", "wola"),
}


def page() -> str:
    """The whole page."""
    words = {**MORE_WORDS, **WORDS}
    fields = {name: line for name, line in field_lines().items() if name != "f"}
    sections = {
        "Symbols": _table("symbol", {f"`{name}`": line for name, line in SYMBOLS.items()}),
        "Words": _table("word", {word: words[word] for word in sorted(words, key=str.lower)}),
        "Short names": "\n".join(_short_names()),
        "Strategies": _table(
            "strategy", {f"`{name}`": strategy_line(name, of) for name, of in STRATEGIES.items()}
        ),
        "Fields of a scenario": _table("field", {f"`{name}`": fields[name] for name in fields}),
    }
    return "\n".join([TOP, *(f"## {title}\n\n{text}\n" for title, text in sections.items())])


def _table(head: str, lines: Mapping[str, str]) -> str:
    rows = [f"| {name} | {_cell(line)} |" for name, line in lines.items()]
    return "\n".join([f"| {head} | what it means |\n|---|---|", *rows])


def _short_names() -> Iterator[str]:
    yield "| short | stands for | what it does |\n|---|---|---|"
    for short, (words, field, name) in ABBREVIATIONS.items():
        line = _cell(markdown(described(PARTS.kinds[field].names[name]).line))
        yield f"| [{short}](methods.md#{anchor(field, name)}) | {words} | {line} |"


def _cell(line: str) -> str:
    return line.replace("|", r"\|")


if __name__ == "__main__":
    write_whole(PAGE, page().encode())
