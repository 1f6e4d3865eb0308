"""The peer libraries ByzFL 0.0.11 and ByzPy 0.1.4, each work behind one signature.

A rule maps updates of shape (n, d) to one of shape (d,). An attack maps the honest updates, of
shape (n - f, d), to the one vector of shape (d,) that every attacker sends. The names are the
same for both peers; what a peer lacks is absent from its dictionary.

The peers are imported on first use, since they live in an environment of their own.
"""

import functools
import importlib
import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor

Vectors = Callable[[Tensor], Tensor]
Backend = Literal["torch", "numpy"]

MDA_SUBSETS = 50_000
"""Minimum diameter averaging is offered up to this many subsets: the peers visit them in Python."""


def byzfl() -> ModuleType:
    """ByzFL, importable although torchvision's compiled part cannot be loaded here.

    ByzFL imports torchvision for its data sets and transforms, which are plain Python. The
    wheel pinned for it is a CUDA build: its compiled operators need CUDA libraries, and without
    them the import stops where it describes two operators that do not exist. Declaring these
    two, without an implementation, lets the real transforms work.
    """
    _declare_torchvision_operators()
    return _load("byzfl")


def byzfl_rules(
    n: int,
    f: int,
    *,
    backend: Backend = "torch",
    gm_iterations: int = 3,
    gm_nu: float = 0.1,
    clip_tau: float = 100.0,
    clip_iterations: int = 1,
) -> dict[str, Vectors]:
    """ByzFL's rules and chains for n updates, f of them Byzantine.

    ByzFL has two paths: "torch", for tensors, which its own training uses, and "numpy", for
    arrays, which is mostly the faster one on a CPU, in the trimmed mean's sort above all. A tensor
    and its array share memory, so the conversion costs nothing.

    Defaults are ByzFL's own. Where its definitions differ from the ones in docs/design.md:

    - every rule: the torch path rounds float64 to float32 first; NaN rows are not filtered, and
      infinite ones only by the geometric median.
    - krum, multi-krum: power 2, over the n - f - 1 nearest others rather than n - f - 2.
    - geometric-median: `gm_iterations` steps from 0, weights 1 / max(nu, distance), nu absolute.
    - centered-clipping: starts at 0, then keeps its last answer as the next start; a new object
      is made for every call, so that each call starts at 0.
    - distances come from `torch.cdist` (direct up to 25 rows, through the float32 Gram matrix of
      uncentred rows above) or SciPy's `cdist` in float64, so near ties may break differently.
    - cge: not in ByzFL.

    Median (mean of the two middle values), trimmed mean, meamed, MDA and NNM agree with ours.
    """
    library = byzfl()
    nnm = library.NNM(f)
    rules: dict[str, Vectors] = {
        "median": library.Median(),
        "trimmed-mean": library.TrMean(f),
        "meamed": library.Meamed(f),
        "geometric-median": library.GeometricMedian(nu=gm_nu, T=gm_iterations),
        "krum": library.Krum(f),
        "multi-krum": library.MultiKrum(f),
        "centered-clipping": lambda updates: library.CenteredClipping(
            L=clip_iterations, tau=clip_tau
        )(updates),
    }
    if math.comb(n, f) <= MDA_SUBSETS:
        rules["mda"] = library.MDA(f)
    for name in ("multi-krum", "geometric-median", "median", "trimmed-mean"):
        rules[f"nnm+{name}"] = _after(nnm, rules[name])
    return _on_backend(backend, rules)


def byzfl_nnm_bytes(n: int, f: int, d: int) -> int:
    """Bytes that ByzFL's NNM holds at once: the input, its (n, n - f, d) copy and the output."""
    return 4 * d * n * (n - f + 2)


def byzfl_attacks(n: int, f: int, z: float, *, backend: Backend = "torch") -> dict[str, Vectors]:
    """ByzFL's attacks for n workers, f of them Byzantine, on either of its paths.

    - alie: mean + z std with the sample deviation (divisor h - 1, h = n - f); ours has divisor h,
      so `z * sqrt(h / (h - 1))` there gives the same vector.
    - optimal-alie, against NNM then trimmed mean: 20 evaluations of the rule from factor 0 with
      step 10, doubled while the distance to the honest mean grows, then shrunk by 0.8 each time.
      It only ever tries larger factors; ours looks on both sides of the mean, so the two are
      compared by the distance they reach. `z` plays no part in it.
    """
    library = byzfl()
    attacks: dict[str, Vectors] = {
        "alie": library.ALittleIsEnough(tau=float(z)),
        "optimal-alie": library.Optimal_ALittleIsEnough(
            agg=library.TrMean(f),
            pre_agg_list=[library.NNM(f)],
            f=f,
            evals=20,
            start=0.0,
            delta=10.0,
            ratio=0.8,
        ),
    }
    return _on_backend(backend, attacks)


def byzpy_rules(
    n: int, f: int, *, clip_tau: float = 100.0, clip_iterations: int = 1
) -> dict[str, Vectors]:
    """ByzPy's rules and chains for n updates, f of them Byzantine, in one process without a pool.

    Each call is the plain `aggregate` on a list of row views; ByzPy stacks them into a new matrix
    first. All run on its torch backend, in the dtype given, except MDA, which runs in NumPy.
    Where its definitions differ from the ones in docs/design.md:

    - every rule: non-finite rows are not filtered.
    - median: for even n the lower of the two middle values, not their mean; meamed centres there
      too, and the geometric median starts there.
    - geometric-median: from the median to convergence (step below 1e-6, absolute, at most 256
      steps), with distances bounded below by 1e-12.
    - krum, multi-krum: power 2, over the n - f - 1 nearest others rather than n - f - 2.
    - krum, multi-krum, mda, NNM: squared distances from the uncentred Gram matrix in the dtype
      given, so near ties may break differently.
    - centered-clipping: started at 0 here as ByzFL does; its own default is 10 steps from the mean.

    Trimmed mean, CGE (mean of the n - f smallest norms), MDA and NNM agree with ours.
    """
    coordinate = _load("byzpy.aggregators.coordinate_wise")
    geometric = _load("byzpy.aggregators.geometric_wise")
    norm = _load("byzpy.aggregators.norm_wise")
    nnm = _load("byzpy.pre_aggregators").NearestNeighborMixing(f)
    aggregators: dict[str, Any] = {
        "median": coordinate.CoordinateWiseMedian(),
        "trimmed-mean": coordinate.CoordinateWiseTrimmedMean(f),
        "meamed": coordinate.MeanOfMedians(f),
        "geometric-median": geometric.GeometricMedian(),
        "krum": geometric.Krum(f),
        "multi-krum": geometric.MultiKrum(f, q=n - f),
        "cge": norm.ComparativeGradientElimination(f),
        "centered-clipping": norm.CenteredClipping(c_tau=clip_tau, M=clip_iterations, init="zero"),
    }
    if math.comb(n, f) <= MDA_SUBSETS:
        aggregators["mda"] = geometric.MinimumDiameterAveraging(f)
    rules = {name: _on_rows(rule.aggregate) for name, rule in aggregators.items()}
    for name in ("multi-krum", "geometric-median", "median", "trimmed-mean"):
        rules[f"nnm+{name}"] = _on_rows(_after(nnm.pre_aggregate, aggregators[name].aggregate))
    return rules


def byzpy_attacks(n: int, f: int) -> dict[str, Vectors]:
    """ByzPy's ALIE: population deviation and z from n and f as ours; z cannot be given."""
    little = _load("byzpy.attacks").LittleAttack(f, N=n)
    return {"alie": _on_rows(lambda rows: little.apply(honest_grads=rows))}


def _after(first: Callable[[Any], Any], then: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
    return lambda updates: then(first(updates))


def _on_rows(rule: Callable[[list[Tensor]], Tensor]) -> Vectors:
    return lambda updates: rule(list(updates.unbind()))


def _on_backend(backend: Backend, works: dict[str, Vectors]) -> dict[str, Vectors]:
    if backend == "torch":
        return works
    if backend == "numpy":
        return {name: _on_arrays(work) for name, work in works.items()}
    raise ValueError(f"backend must be 'torch' or 'numpy', got {backend!r}")


def _on_arrays(work: Callable[[Any], Any]) -> Vectors:
    return lambda updates: torch.from_numpy(work(updates.numpy()))


def _load(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise _missing(error.name or name) from error


def _missing(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"{name!r} is not installed: the peer libraries live in an environment of their own; "
        "run `make bench-env`, then use .venv-bench/bin/python",
        name=name,
    )


@functools.cache
def _declare_torchvision_operators() -> None:
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        raise _missing("torchvision")
    try:
        torch.ops.load_library(Path(spec.origin).with_name("_C.so"))  # type: ignore[no-untyped-call]
    except OSError:
        for name in ("nms", "qnms"):
            torch.library.define(
                f"torchvision::{name}", "(Tensor boxes, Tensor scores, float threshold) -> Tensor"
            )
