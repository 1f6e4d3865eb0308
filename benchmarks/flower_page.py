"""The page of the measurements with Flower, from what `benchmarks.flower` recorded."""

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.flower_costs import ONCE, SIGNED, TRAINING
from benchmarks.flower_faults import HARM, LOCAL_STEPS, STOCK
from benchmarks.flower_faults import OURS as OUR_STRATEGY
from benchmarks.flower_faulty import NOTHING, TIMEOUT, F, N
from benchmarks.flower_faulty import ROUNDS as FAULT_ROUNDS
from benchmarks.flower_prose import COSTS, ELSEWHERE, FAULTS, READING, ROUNDS
from benchmarks.flower_rounds import BASE, OURS

#: Our round may take this much longer than FedAvg's.
GOAL = 0.10

Record = Mapping[str, Any]


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(
        "|" + "|".join(line) + "|" if i == 1 else "| " + " | ".join(line) + " |"
        for i, line in enumerate(lines)
    )


def over(found: Mapping[str, Record], name: str, clock: str = "cpu") -> float:
    """How much longer than FedAvg a contender takes: 0.1 is 10 %."""
    return float(found[name][clock] / found[BASE][clock] - 1)


def title(setting: Record) -> str:
    """A setting in words."""
    batches = "1 batch" if setting["local_steps"] == 1 else f"{setting['local_steps']} batches"
    return f"{setting['size']} ({setting['parameters']:,}), n = {setting['n']}, {batches}"


def goal_table(measured: Iterable[Record]) -> str:
    """Our overhead over FedAvg in every setting, beside the goal."""
    rows = []
    for each in measured:
        found = each["found"]
        share = over(found, OURS)
        rows.append(
            [
                title(each["setting"]),
                *(f"{1e3 * found[name]['cpu']:.1f}" for name in (BASE, OURS)),
                f"{share:+.0%}",
                "yes" if share < GOAL else "no",
                f"{over(found, OURS, 'wall'):+.0%}",
            ]
        )
    head = ["", "FedAvg, ms", "wola, ms", "over FedAvg", f"under {GOAL:.0%}", "the same, wall"]
    return markdown(head, rows)


def setting_table(found: Mapping[str, Record]) -> str:
    """All contenders of a setting."""
    rows = [
        [
            name,
            f"{1e3 * one['cpu']:.1f}",
            f"{over(found, name):+.0%}",
            f"{1e3 * one['wall']:.1f}",
            f"{one['out'] / 1e3:,.0f}",
            f"{one['in'] / 1e3:,.0f}",
            f"{one['rounds']:.0f}",
        ]
        for name, one in found.items()
    ]
    head = ["", "CPU, ms", "over FedAvg", "wall, ms", "out, kB", "in, kB", "rounds"]
    return markdown(head, rows)


def cost_table(found: Mapping[str, Mapping[str, float]], measured: Iterable[Record]) -> str:
    """The parts, by size of the model, and the whole extra as it was measured in rounds."""
    parts = next(iter(found.values()))
    rows = [[part, *(f"{1e3 * one[part]:.2f}" for one in found.values())] for part in parts]
    optional = (TRAINING, SIGNED, ONCE)
    extra = [sum(x for part, x in one.items() if part not in optional) for one in found.values()]
    rows.append(["sum without training and options", *(f"{1e3 * each:.2f}" for each in extra)])
    whole: dict[int, dict[str, str]] = {}
    for each in measured:
        setting, times = each["setting"], each["found"]
        if setting["local_steps"] == 1:
            seconds = (times[OURS]["cpu"] - times[BASE]["cpu"]) / setting["n"]
            whole.setdefault(setting["n"], {})[setting["size"]] = f"{1e3 * seconds:.2f}"
    for n, of in whole.items():
        words = f"wola over FedAvg in a round, n = {n}"
        rows.append([words, *(of.get(size, "") for size in found)])
    return markdown(["", *found], rows)


def deployment_text(found: Record) -> str:
    """Seconds a round in deployment, and the overhead."""
    medians, seconds = found["median"], found["seconds"]
    share = medians["wola"] / medians["fedavg"] - 1
    rows = [
        [
            {"fedavg": "Flower FedAvg", "wola": "wola, signed"}[name],
            f"{medians[name]:.1f}",
            f"{min(seconds[name]):.1f} to {max(seconds[name]):.1f}",
            str(len(seconds[name])),
        ]
        for name in medians
    ]
    reached = "reached" if share < GOAL else "missed"
    return "\n\n".join(
        [
            f"SuperLink, superexec, proxy where nginx is installed, and {found['clients']} honest "
            "SuperNodes on loopback, with TLS and node authentication: the example app on digits, "
            "100 local steps of 32 samples and no momentum, all clients waited for. Wall time from "
            "one round's end to the next, the two strategies in turns on the same nodes.",
            markdown(["", "s a round, median", "from, to", "rounds"], rows),
            f"wola over FedAvg: {share:+.0%} (goal: under {GOAL:.0%}, {reached}). A round is the "
            "start of a process for every message and the nodes' polling; what a strategy does "
            "in it hardly shows. Flower's grid looks for replies every 3 s, wola every second at "
            "the latest, and a state dict has several arrays where wola sends one; how much of "
            "the difference is due to either was not measured.",
        ]
    )


def fault_table(found: Mapping[str, Mapping[str, Record]]) -> str:
    """What was seen, by fault and strategy."""
    names = [*STOCK, OUR_STRATEGY]
    rows = []
    for words, row in found.items():
        cells = []
        for name in names:
            said, accuracy = row[name]["outcome"], row[name]["accuracy"]
            plain = words == NOTHING and accuracy is not None
            cells.append(f"{said}: {accuracy:.0f} %" if plain else said)
        rows.append([words, *cells])
    return markdown(["what happens", *names], rows)


def reasons(found: Mapping[str, Mapping[str, Record]]) -> str:
    """What the records of our run say, fault by fault."""
    rows = [
        [words, row[OUR_STRATEGY]["reason"].replace("|", "/")]
        for words, row in found.items()
        if row[OUR_STRATEGY]["reason"]
    ]
    return markdown(["what happens", "the record's last word on that client"], rows)


def summary(found: Mapping[str, Mapping[str, Record]]) -> str:
    """How often each strategy came through.

    Coming through is going on with a model as good as without the fault, in time.
    """
    rows = []
    for name in [*STOCK, OUR_STRATEGY]:
        said = [row[name]["outcome"] for words, row in found.items() if words != NOTHING]
        kinds = {
            "ran on": [x for x in said if x.startswith("ran on") and "timeout" not in x],
            "ran on, late": [x for x in said if x.startswith("ran on") and "timeout" in x],
            "crashed": [x for x in said if x.startswith("crashed")],
            "model NaN": [x for x in said if x.startswith("model NaN")],
            "followed the liar": [x for x in said if x.startswith("followed")],
        }
        other = len(said) - sum(map(len, kinds.values()))
        rows.append([name, *(str(len(kind)) for kind in kinds.values()), str(other)])
    head = ["", "ran on", "ran on, late", "crashed", "model NaN", "followed the liar", "other"]
    return markdown(head, rows)


def facts(part: Record) -> str:
    """Where and how a part was measured."""
    return "\n".join(f"- {name}: {value}" for name, value in part["environment"].items())


def page(record: Mapping[str, Record]) -> str:
    """The whole page; parts that were not measured are left out."""
    parts = ["# WoLA on Flower, measured"]
    if rounds := record.get("rounds"):
        parts += ["## A round in one process", facts(rounds), ROUNDS, goal_table(rounds["found"])]
        parts.append(missed(rounds["found"]))
        for each in rounds["found"]:
            parts += [f"### {title(each['setting'])}, f = {each['setting']['f']}"]
            parts.append(setting_table(each["found"]))
        parts += [
            "### Where the extra time goes",
            COSTS,
            cost_table(rounds["costs"], rounds["found"]),
        ]
    if deployment := record.get("deployment"):
        parts += ["## A round in deployment", facts(deployment)]
        parts.append(deployment_text(deployment["found"]))
    if faults := record.get("faults"):
        numbers = {"n": N, "f": F, "steps": LOCAL_STEPS, "rounds": FAULT_ROUNDS}
        text = FAULTS.format(**numbers, timeout=TIMEOUT, harm=HARM)
        parts += ["## Faults", facts(faults), text, fault_table(faults["found"])]
        parts += [f"Of {len(faults['found']) - 1} faults:", summary(faults["found"])]
        parts += [reasons(faults["found"]), READING, ELSEWHERE]
    return "\n\n".join(parts) + "\n"


def missed(measured: Iterable[Record]) -> str:
    """Which settings are over the goal, and what that means."""
    all_of = list(measured)
    late = [title(each["setting"]) for each in all_of if over(each["found"], OURS) >= GOAL]
    if not late:
        return f"The goal is reached in all {len(all_of)} settings."
    return (
        f"The goal is missed in {len(late)} of {len(all_of)} settings: {'; '.join(late)}. What is "
        "extra is there once a round for each client, whatever the work (its parts are below). It "
        "shows where a round is little work, and the paper's own recipe, one batch, is that."
    )
