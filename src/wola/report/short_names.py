"""Short names of parts and strategies: as short as can be while all that meet stay apart."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

from wola.parts import Call, GrammarError, parse, written
from wola.training import STRATEGIES

#: The names of parts as the paper writes them, in its order.
TITLES: Mapping[str, str] = MappingProxyType(
    {
        "mnist": "MNIST",
        "fashion-mnist": "Fashion MNIST",
        "cifar10": "CIFAR10",
        "purchase100": "Purchase100",
        "digits": "digits",
        "iris": "iris",
        "mean": "Mean",
        "median": "CWMed",
        "trimmed-mean": "CwTM",
        "geometric-median": "GM",
        "multi-krum": "MKrum",
        "krum": "Krum",
        "alie": "ALIE",
        "foe": "FOE",
        "lf": "LF",
        "mimic": "Mimic",
        "sf": "SF",
        "nnm": "NNM",
        "bucketing": "BKT",
        "foundation-fl": "FoundFL",
        "arc": "ARC",
        "wola": "WoLA",
        "wola-batch": "WoLA-batch",
        "fedlc": "FedLC",
        "fedrs": "FedRS",
        "dmfl": "DMFL",
        "logit-adjusted": "LogitAdj",
        "wola-shift": "WoLA-shift",
        "angle-nnm": "AngleNNM",
        "clip-largest": "ClipLargest",
    }
)

# Data of the user's own are called after their file.
_FILES = ("npz", "folder", "csv", "parquet")


def short_names(texts: Iterable[str]) -> dict[str, str]:
    """A short name for every text of a part among those that meet; no two share one.

    The paper's name, the class of one's own part, or the file of one's own data; where variants of
    one part meet, with the parameters in which they differ, and at last with all there is.

    >>> short_names(["multi-krum(power=1)", "mine:NearestHalf(k=3)"])
    {'multi-krum(power=1)': 'MKrum', 'mine:NearestHalf(k=3)': 'NearestHalf'}
    >>> list(short_names(["multi-krum(power=1)", "multi-krum"]).values())
    ['MKrum(power=1)', 'MKrum']
    """
    calls = {text: _calls(text) for text in dict.fromkeys(texts)}
    bases = {text: _joined(some, _name) for text, some in calls.items()}
    alike: dict[str, list[Sequence[Call]]] = {}
    for text, base in bases.items():
        alike.setdefault(base, []).append(calls[text])
    forms = {
        text: (
            bases[text],
            _with_differing(some, alike[bases[text]]),
            _joined(some, _with_arguments),
            _joined(some, written),
            text,
        )
        for text, some in calls.items()
    }
    return _told_apart(forms)


def short_strategies(names: Iterable[str], own: Iterable[str] = ()) -> dict[str, str]:
    """A short name for every strategy among those that meet; no two share one.

    The paper's strategies and those of `own` keep their names; in a strategy that is spelt out,
    a user's parts are called by their classes.

    >>> short_strategies(["WoLA", "WoLA+mine:Near(k=3)"])
    {'WoLA': 'WoLA', 'WoLA+mine:Near(k=3)': 'WoLA+Near'}
    """
    named = {*STRATEGIES, *own}
    forms: dict[str, tuple[str, ...]] = {}
    for name in names:
        some = () if name in named else _calls(name)
        brief = _joined(some, lambda call: _name(call) if call.own else written(call))
        fuller = _joined(some, lambda call: _with_arguments(call) if call.own else written(call))
        forms[name] = (brief, fuller, name) if any(call.own for call in some) else (name,)
    return _told_apart(forms, taken=named)


def _told_apart(forms: Mapping[str, Sequence[str]], taken: Iterable[str] = ()) -> dict[str, str]:
    """The first form of each text that no other has; the last forms are the texts themselves."""
    level, refused = dict.fromkeys(forms, 0), set(taken)
    while True:
        shown = {text: some[level[text]] for text, some in forms.items()}
        owners = Counter(shown.values())
        clashing = [
            text
            for text, short in shown.items()
            if (owners[short] > 1 or short in refused) and level[text] < len(forms[text]) - 1
        ]
        if not clashing:
            return shown
        for text in clashing:
            level[text] += 1


def _calls(text: str) -> Sequence[Call]:
    try:
        return parse(text)
    except GrammarError:
        return (Call(text),)


def _joined(calls: Iterable[Call], shown: Callable[[Call], str]) -> str:
    return "+".join(map(shown, calls))


def _name(call: Call) -> str:
    if call.own:
        return call.name.partition(":")[2].rpartition(".")[2]
    return _file(call) or TITLES.get(call.name, call.name)


def _file(call: Call) -> str:
    """The file or folder that the data of a call are in; nothing if it is another kind of part."""
    if call.name not in _FILES or not call.arguments or call.arguments[0][0] not in (None, "path"):
        return ""
    return PurePath(str(call.arguments[0][1])).name


def _with_arguments(call: Call) -> str:
    return written(Call(_name(call), call.arguments[1:] if _file(call) else call.arguments))


def _arguments(call: Call) -> dict[str, str]:
    """The arguments by key, or by place, each as it is written."""
    shown = call.arguments[1:] if _file(call) else call.arguments
    return {
        key or str(place): written(Call("", ((key, value),)))[1:-1]
        for place, (key, value) in enumerate(shown)
    }


def _with_differing(calls: Sequence[Call], alike: Sequence[Sequence[Call]]) -> str:
    """Names with the arguments that not all of those have that are called the same."""

    def differs(place: int, key: str) -> bool:
        return len({_arguments(some[place]).get(key) for some in alike if place < len(some)}) > 1

    made = []
    for place, call in enumerate(calls):
        told = [text for key, text in _arguments(call).items() if differs(place, key)]
        made.append(_name(call) + (f"({', '.join(told)})" if told else ""))
    return "+".join(made)
