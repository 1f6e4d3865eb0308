"""The works compared: what each library does under one name, on which data, and how they differ."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

import wola.aggregation as rules
from benchmarks import peers
from benchmarks.peers import Vectors
from wola.attacks import ALIE, OptimalALIE, SignFlip, alie_factor
from wola.mixing import NNM

BYZFL, BYZFL_NUMPY, BYZPY = "ByzFL torch", "ByzFL NumPy", "ByzPy"
PEERS = (BYZFL, BYZFL_NUMPY, BYZPY)

GM_ITERATIONS, GM_NU, TAU = 3, 0.1, 100.0
CHECK_COLUMNS = 20_000

KRUM_NOTE = (
    "Krum: the peers add up the n - f - 1 nearest others, wola n - f - 2; the answers are "
    f"compared on {CHECK_COLUMNS:,} columns of data on which both choose the same."
)
MDA_NOTE = (
    "MDA: where several subsets share the smallest diameter the peers take the first, wola the "
    f"mean of their means; the answers are compared on {CHECK_COLUMNS:,} columns of data with one "
    "such subset."
)
MEDIAN_NOTE = (
    "Even n: ByzPy takes the lower of the two middle values, wola and ByzFL their mean; the answer "
    f"of ByzPy is compared on n - 1 updates of {CHECK_COLUMNS:,} columns."
)
STEPS_NOTE = (
    f"Smoothed Weiszfeld, {GM_ITERATIONS} steps from 0, nu = {GM_NU}, as ByzFL does by default; "
    "ByzPy has no such setting and is compared in the exact row."
)
EXACT_NOTE = "To convergence; ByzPy stops at a step below 1e-6 or after 256 steps."
OPTIMAL_NOTE = (
    "20 evaluations against NNM then trimmed mean; the searches differ, so not the vectors but the "
    "distances of the aggregate from the honest mean are compared: a negative difference means "
    "that wola's attack goes farther."
)
MEAMED_NOTE = (
    "Of a million columns two hold values whose distances to the median differ in the eighth digit "
    "(n = 17, d = 1,000,000): the peers compare them in float32 and keep the farther one; wola "
    "agrees with a float64 computation from the definition to 3e-08."
)
CLIPPING_NOTE = (
    "Beside a float64 computation from the definition (n = 100, d = 1,000,000) ByzFL's torch path "
    "was 1.1e-05 off, its NumPy path 1e-07, ByzPy 7e-08, wola 3e-08."
)
SIGN_NOTE = "ByzPy flips the attacker's own gradient, which is a different work."

Compare = Callable[[Tensor, Tensor, Tensor], float]


def relative_difference(ours: Tensor, theirs: Tensor, _updates: Tensor) -> float:
    """||ours - theirs|| / ||theirs||, in float64."""
    theirs = theirs.double()
    return float((ours.double() - theirs).norm() / theirs.norm())


@dataclass(frozen=True)
class Work:
    """One work: ours and the peers' callables, and how far their answers may be apart."""

    name: str
    ours: Vectors
    peers: dict[str, Vectors]
    tolerance: float = 1e-5
    notes: tuple[str, ...] = ()
    compare: Compare = field(default=relative_difference)
    is_attack: bool = False
    has_nnm: bool = False
    on_graded: bool = False
    has_median: bool = False

    def input(self, updates: Tensor, f: int) -> Tensor:
        """What the work is given: all updates, or the honest ones if it is an attack."""
        return updates[: len(updates) - f] if self.is_attack else updates

    def common_ground(self, library: str, updates: Tensor) -> Tensor:
        """Updates on which this library's definition and ours have one and the same answer."""
        if self.on_graded:
            return graded_updates(len(updates), CHECK_COLUMNS)
        if self.has_median and library == BYZPY and len(updates) % 2 == 0:
            return updates[:-1, :CHECK_COLUMNS].contiguous()
        return updates


def byzantine_count(n: int) -> int:
    """How many of n workers are Byzantine here: 6 of 17 as in the paper, else a quarter."""
    return 6 if n == 17 else n // 4


def skewed_updates(n: int, f: int, d: int, seed: int = 0) -> Tensor:
    """Updates (n, d) of workers that differ in three directions and by noise; the last f apart."""
    generator = torch.Generator().manual_seed(seed)
    directions = torch.randn(3, d, generator=generator)
    places = torch.randn(n, 3, generator=generator)
    places[n - f :] += 2.0
    return torch.randn(n, d, generator=generator).mul_(0.5).addmm_(places, directions)


def graded_updates(n: int, d: int, seed: int = 1) -> Tensor:
    """Updates (n, d) each noisier than the one before, ranked so by Krum scores and diameters."""
    generator = torch.Generator().manual_seed(seed)
    grades = torch.linspace(0.5, 1.5, n)[:, None]
    return torch.randn(n, d, generator=generator) * grades


def works(n: int, f: int) -> list[Work]:
    """Every work for n workers, f of them Byzantine."""
    by_peer = {
        BYZFL: peers.byzfl_rules(n, f, gm_iterations=GM_ITERATIONS, gm_nu=GM_NU, clip_tau=TAU),
        BYZFL_NUMPY: peers.byzfl_rules(
            n, f, backend="numpy", gm_iterations=GM_ITERATIONS, gm_nu=GM_NU, clip_tau=TAU
        ),
        BYZPY: peers.byzpy_rules(n, f, clip_tau=TAU),
    }
    steps = rules.GeometricMedian(iterations=GM_ITERATIONS, nu=GM_NU)
    ours: dict[str, rules.Rule] = {
        "median": rules.CoordinateMedian(),
        "trimmed-mean": rules.TrimmedMean(),
        "meamed": rules.MeaMed(),
        "geometric-median": steps,
        "geometric-median exact": rules.GeometricMedian(),
        "krum": rules.Krum(),
        "multi-krum": rules.MultiKrum(),
        "mda": rules.MinimumDiameterAveraging(),
        "cge": rules.ComparativeGradientElimination(),
        "centered-clipping": rules.CenteredClipping(tau=TAU),
        "nnm+multi-krum": NNM() | rules.MultiKrum(),
        "nnm+geometric-median": NNM() | steps,
        "nnm+geometric-median exact": NNM() | rules.GeometricMedian(),
        "nnm+median": NNM() | rules.CoordinateMedian(),
        "nnm+trimmed-mean": NNM() | rules.TrimmedMean(),
    }
    offered = [rule_work(name, rule, n, f, by_peer) for name, rule in ours.items()]
    return [work for work in offered if work.peers] + attack_works(n, f)


def rule_work(
    name: str, rule: rules.Rule, n: int, f: int, by_peer: dict[str, dict[str, Vectors]]
) -> Work:
    """A rule beside those of the peers that do the same under this name."""
    exact, stepped = name.endswith("exact"), name.endswith("geometric-median")
    same = PEERS[:2] if stepped else PEERS[2:] if exact else PEERS
    called = name.removesuffix(" exact")
    has_krum = "krum" in name
    has_median = name.endswith(("+median", "meamed")) or name == "median"
    notes = {
        KRUM_NOTE: has_krum,
        MDA_NOTE: name == "mda",
        MEDIAN_NOTE: has_median and n % 2 == 0,
        STEPS_NOTE: stepped,
        EXACT_NOTE: exact,
        MEAMED_NOTE: name == "meamed",
        CLIPPING_NOTE: name == "centered-clipping",
    }
    return Work(
        name,
        lambda updates: rule(updates, f=f),
        {peer: by_peer[peer][called] for peer in same if called in by_peer[peer]},
        tolerance=1e-4 if exact else 1e-5,
        notes=tuple(note for note, holds in notes.items() if holds),
        has_nnm=name.startswith("nnm+"),
        on_graded=has_krum or name == "mda",
        has_median=has_median,
    )


def attack_works(n: int, f: int) -> list[Work]:
    """The attacks that a peer has too."""
    h = n - f
    # ByzFL multiplies the sample deviation, wola and ByzPy the population's.
    z = alie_factor(n, f) * math.sqrt((h - 1) / h)
    torch_path, numpy_path = (
        peers.byzfl_attacks(n, f, z),
        peers.byzfl_attacks(n, f, z, backend="numpy"),
    )
    flip = peers.byzfl().SignFlipping()
    rule = NNM() | rules.TrimmedMean()

    def shortfall(ours: Tensor, theirs: Tensor, honest: Tensor) -> float:
        return (
            distance_reached(theirs, honest, rule, f) / distance_reached(ours, honest, rule, f)
            - 1.0
        )

    return [
        Work(
            "alie",
            lambda honest: ALIE()(honest, f)[0],
            {
                BYZFL: torch_path["alie"],
                BYZFL_NUMPY: numpy_path["alie"],
                BYZPY: peers.byzpy_attacks(n, f)["alie"],
            },
            is_attack=True,
        ),
        Work(
            "optimal-alie",
            lambda honest: OptimalALIE(evaluations=20)(honest, f, rule=rule)[0],
            {BYZFL: torch_path["optimal-alie"], BYZFL_NUMPY: numpy_path["optimal-alie"]},
            tolerance=0.01,
            notes=(OPTIMAL_NOTE,),
            compare=shortfall,
            is_attack=True,
            has_nnm=True,
        ),
        Work(
            "sign-flip",
            lambda honest: SignFlip()(honest, f)[0],
            {BYZFL: flip, BYZFL_NUMPY: lambda honest: torch.from_numpy(flip(honest.numpy()))},
            notes=(SIGN_NOTE,),
            is_attack=True,
        ),
    ]


def distance_reached(byzantine: Tensor, honest: Tensor, rule: rules.Rule, f: int) -> float:
    """How far the aggregate is from the honest mean when f workers send this vector."""
    sent = torch.cat([honest, byzantine.to(honest).expand(f, -1)])
    aggregate: Tensor = rule(sent, f=f)
    return float((aggregate.double() - honest.double().mean(dim=0)).norm())
