"""`wola train`, inside this process and as the user starts it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.aggregation.memory_rules import REMEMBERING
from wola.ground import WriteError
from wola.training import Round, RunFolder, Scenario, simulate

SHORT = ("--dataset", "iris", "--steps", "20", "--batch", "8", "--out", "run")
COMMAND = [sys.executable, "-c", "from wola.cli import main; main()"]


def digest(folder: Path) -> str:
    made: str = RunFolder(folder).summary()["digest"]
    return made


def test_a_run_is_kept_in_its_folder_and_told_in_a_table(wola, tmp_path):
    result = wola("train", *SHORT, "--strategy", "wola+nnm", "--attack", "foe")

    assert result.exit_code == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "scenario.json",
        "summary.json",
        "metrics.parquet",
        "model.safetensors",
    }
    scenario = Scenario.paper("iris", strategy="WoLA+NNM", attack="foe", steps=20, batch=8)
    assert RunFolder(tmp_path / "run").scenario() == scenario
    expected = simulate(scenario)
    assert digest(tmp_path / "run") == expected.digest()
    assert f"{expected.accuracy:.2f} %, mean of 2 tests over training; " in result.stdout
    assert f"; {expected.final_accuracy:.2f} % at the end" in result.stdout
    assert expected.mix.describe().removeprefix("labels: ") in " ".join(result.stdout.split())
    assert "foe against trimmed-mean with WoLA+NNM" in result.stdout
    assert "run folder: run" in result.stdout


def test_flags_override_the_file(wola, tmp_path):
    (tmp_path / "s.toml").write_text('dataset = "iris"\nsteps = 20\nbatch = 8\nattack = "sf"\n')

    result = wola("train", "s.toml", "--attack", "zero", "--participants", "none", "--out", "run")

    kept = json.loads((tmp_path / "run" / "scenario.json").read_text())["fields"]
    assert result.exit_code == 0
    assert (kept["attack"], kept["batch"]) == ("zero", 8)
    assert "participants" not in kept


def test_without_out_a_run_goes_to_a_folder_of_its_own(wola, tmp_path):
    wola("train", *SHORT[:-2])

    (folder,) = (tmp_path / "runs").iterdir()
    assert folder.name.startswith("iris-plain-trimmed-mean-alie-")


def test_a_batch_larger_than_a_shard_is_explained(wola):
    result = wola("train", *SHORT, "--batch", "64")

    assert "note: 17 of 17 workers hold fewer samples" in result.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--byzantine", "9"), ["byzantine = 9", "0 to 8"]),
        (("--byzantine", "-1"), ["byzantine", "-1"]),
        (("--lr", "-0.5"), ["lr = '-0.5'", "greater than 0"]),
        (("--lr", "nan"), ["lr = 'nan'", "finite"]),
        (("--steps", "1.5"), ["steps = '1.5'", "integer"]),
        (("--alpha", "many"), ["alpha = 'many'", "number"]),
        (("--attack", "ailie"), ["attack = 'ailie'", "did you mean 'alie'?"]),
        (("--aggregator", "trimed-mean"), ["aggregator", "did you mean 'trimmed-mean'?"]),
        (("--mixing", "nmm"), ["mixing = 'nmm'", "did you mean 'nnm'?"]),
        (("--loss", "wola-bach"), ["loss = 'wola-bach'", "did you mean 'wola-batch'?"]),
        (("--inputs", "scaledd"), ["--inputs = 'scaledd'", "did you mean 'scaled'?"]),
        (("--aggregator", "krum(powr=1)"), ["no parameter 'powr'", "did you mean 'power'?"]),
        (("--aggregator", "krum(power=1"), ["krum(power=1", "never closed"]),
        (("--aggregator", "krum+median"), ["krum", "mixing"]),
        (("--strategy", "WoLA", "--loss", "cross-entropy"), ["--loss", "contradicts --strategy"]),
        (("--dataset", "minst"), ["dataset = 'minst'", "did you mean 'mnist'?"]),
        (("--strategy", "wolla"), ["--strategy = 'wolla'", "did you mean 'wola'?"]),
        (("--model", "mpl"), ["model = 'mpl'", "did you mean 'mlp'?"]),
        (("--model", "nowhere:net"), ["model = 'nowhere:net'", "'nowhere' cannot be found"]),
        (("--device", "abacus"), ["device = 'abacus'"]),
        (("--device", "meta"), ["--device = 'meta'", "cpu"]),
        (("--dataset", "npz"), ["npz needs path", "npz(path=...)"]),
        (("--dataset", "npz(no.npz)"), ["no.npz", "No such file"]),
        (("--workers", "300", "--byzantine", "1"), ["honest = 299", "120 samples"]),
        (("--checkpoint-every", "0"), ["--checkpoint-every", "0", "x>=1"]),
        (("no.toml",), ["no.toml does not exist"]),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(wola, tmp_path, words, parts):
    result = wola("train", *SHORT, *words)

    assert result.exit_code == 2
    assert result.stderr.startswith("wola: ")
    assert all(part in result.stderr for part in parts), result.stderr
    assert result.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_file_with_an_unknown_field_suggests_the_nearest(wola, tmp_path):
    (tmp_path / "s.toml").write_text("alhpa = 1.0\n")

    result = wola("train", "s.toml")

    assert result.exit_code == 2
    assert "alhpa is no field of a scenario; did you mean 'alpha'?" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_a_folder_that_cannot_be_written_ends_in_1(wola, tmp_path):
    (tmp_path / "run").write_text("in the way")

    result = wola("train", *SHORT)

    assert result.exit_code == 1
    assert "run: cannot write" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_place_without_permission_ends_in_1_before_any_training(wola, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr(RunFolder, "train", lambda *_, **__: pytest.fail("it began"))

    result = wola("train", *SHORT[:-2], "--out", "deep/run")

    assert result.exit_code == 1
    assert "cannot write (Permission denied)" in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_disk_that_is_full_leaves_no_empty_folder(wola, tmp_path, monkeypatch):
    def full(path, content):
        path.parent.mkdir(parents=True)
        raise WriteError(28, "cannot write (No space left on device)", str(path))

    monkeypatch.setattr("wola.training.folder.write_whole", full)

    result = wola("train", *SHORT[:-2], "--out", "deep/run")

    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_folder_with_another_run_is_left_alone(wola, tmp_path):
    wola("train", *SHORT)
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir()}

    for words in ((), ("--resume",)):
        result = wola("train", *SHORT, "--seed", "2", *words)
        assert result.exit_code == 2
        assert "seed = 1 there and 2 here" in result.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before


def test_resuming_a_finished_run_shows_it_again(wola, tmp_path):
    wola("train", *SHORT)

    result = wola("train", "--resume", "--out", "run")

    assert result.exit_code == 0
    assert "run is finished already" in result.stdout
    assert "%, mean of 2 tests over training; " in result.stdout


def test_resuming_where_no_run_is_is_refused(wola, tmp_path):
    result = wola("train", "--resume", "--out", "nowhere")

    assert result.exit_code == 2
    assert "nowhere holds no run" in result.stderr
    assert not any(tmp_path.iterdir())


def test_resuming_in_a_mistyped_folder_is_refused_unless_fresh(wola, tmp_path):
    result = wola("train", *SHORT, "--resume")

    assert result.exit_code == 2
    assert "run is no folder; allowed: " in result.stderr
    assert "--fresh" in result.stderr
    assert not any(tmp_path.iterdir())
    assert wola("train", *SHORT, "--resume", "--fresh").exit_code == 0
    assert RunFolder(tmp_path / "run").complete


def test_resuming_a_run_whose_checkpoint_is_lost_is_refused_unless_fresh(wola, tmp_path):
    wola("train", *SHORT)
    (tmp_path / "run" / "summary.json").unlink()

    result = wola("train", "--resume", "--out", "run")

    assert result.exit_code == 2
    assert "run holds no checkpoint; allowed: " in result.stderr
    assert wola("train", "--resume", "--fresh", "--out", "run").exit_code == 0
    assert RunFolder(tmp_path / "run").complete


def test_a_damaged_checkpoint_is_refused_or_set_aside_to_start_afresh(wola, tmp_path):
    wola("train", *SHORT)
    (tmp_path / "run" / "summary.json").unlink()
    (tmp_path / "run" / "checkpoint.pt").write_bytes(b"not one")

    result = wola("train", "--resume", "--out", "run")

    assert result.exit_code == 2
    assert "checkpoint.pt is no checkpoint, or is damaged" in result.stderr
    assert wola("train", "--resume", "--fresh", "--out", "run").exit_code == 0
    (aside,) = (tmp_path / "run").glob("checkpoint.pt.*")
    assert aside.read_bytes() == b"not one"


def test_fresh_means_nothing_without_resume(wola, tmp_path):
    result = wola("train", *SHORT, "--fresh")

    assert result.exit_code == 2
    assert "--fresh without --resume" in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_finished_run_that_is_damaged_is_named(wola, tmp_path):
    wola("train", *SHORT)
    path = tmp_path / "run" / "summary.json"
    path.write_bytes(path.read_bytes().replace(b'"steps"', b'"stepz"'))

    result = wola("train", "--resume", "--out", "run")

    assert result.exit_code == 2
    assert "summary.json is damaged" in result.stderr


def test_an_interruption_before_the_first_step_says_that_nothing_is_left(wola, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RunFolder, "train", interrupted)

    result = wola("train", *SHORT)

    assert result.exit_code == 130
    assert "nothing to resume" in result.stdout


@pytest.mark.parametrize("aggregator", REMEMBERING)
def test_a_run_whose_rule_remembers_is_interrupted_and_resumed_to_the_same_bits(
    wola, tmp_path, monkeypatch, aggregator
):
    words = ("--aggregator", aggregator, "--server-data", "equal(samples=9)", "--mixing", "nnm")
    take = Round.take

    def stopped(self: Round, step: int) -> object:
        if step == 60:
            raise KeyboardInterrupt
        return take(self, step)

    with monkeypatch.context() as patched:
        patched.setattr(Round, "take", stopped)
        broken = wola("train", *SHORT, "--steps", "70", *words)
    assert broken.exit_code == 130

    resumed = wola("train", "--resume", "--out", "run")

    assert resumed.exit_code == 0
    assert "going on after step 5" in resumed.stdout
    scenario = RunFolder(tmp_path / "run").scenario()
    assert scenario.aggregator == aggregator
    assert digest(tmp_path / "run") == simulate(scenario).digest()


def test_an_error_of_the_program_itself_is_not_hidden(wola, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(Round, "take", broken)

    assert str(wola("train", *SHORT).exception) == "a bug"


def test_a_run_that_diverges_ends_in_3_and_is_kept(wola, tmp_path):
    words = ("--lr", "1e30", "--clip", "0", "--aggregator", "mean", "--attack", "none")

    result = wola("train", *SHORT, *words)

    assert result.exit_code == 3
    assert "diverged at step" in result.stdout
    assert RunFolder(tmp_path / "run").complete
    assert wola("train", "--resume", "--out", "run").exit_code == 3


def test_mixings_may_be_joined_with_spaces(wola, tmp_path):
    assert wola("train", *SHORT, "--mixing", "nnm + bucketing").exit_code == 0
    assert RunFolder(tmp_path / "run").scenario().mixing == "nnm+bucketing"


@pytest.mark.parametrize("line", ["steps = true", "lr = true", 'augment = "perhaps"'])
def test_a_file_with_a_value_of_another_kind_is_refused(wola, tmp_path, line):
    (tmp_path / "s.toml").write_text(f'dataset = "iris"\n{line}\n')

    result = wola("train", "s.toml")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"wola: {line.split()[0]} = ")
    assert "allowed: " in result.stderr


def test_a_file_that_contradicts_its_own_strategy_is_refused(wola, tmp_path):
    (tmp_path / "s.toml").write_text('strategy = "WoLA"\nloss = "cross-entropy"\n')

    result = wola("train", "s.toml")

    assert result.exit_code == 2
    assert "loss = 'cross-entropy' contradicts strategy = 'WoLA'" in result.stderr


RULE = """
from dataclasses import dataclass
from wola import Mean

@dataclass(frozen=True)
class Half(Mean):
    k: int = 2
    def __post_init__(self):
        if self.k > 5:
            raise KeyError(self.k)
    def weigh(self, space, f):
        if self.k == 4:
            return 1 / (self.k - 4)
        return super().weigh(space, f)
"""


def test_a_module_of_ones_own_is_found_in_the_current_folder(wola, tmp_path):
    (tmp_path / "own_found.py").write_text(RULE)

    result = wola("train", *SHORT, "--aggregator", "own_found:Half(k=3)")

    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "run" / "scenario.json").read_text())
    assert record["fields"]["aggregator"] == "own_found:Half(k=3)"
    assert "own_found" in record["content"]


@pytest.mark.parametrize(
    ("module", "code", "words", "place"),
    [
        ("own_import", "\n1 / 0\n", "Rule", "own_import.py, line 2: ZeroDivisionError"),
        ("own_syntax", "def f(:\n", "Rule", "own_syntax.py, line 1: SyntaxError"),
        ("own_built", RULE, "Half(k=9)", "own_built.py, line 10: KeyError: 9"),
        ("own_absent", RULE, "Hlaf", "own_absent.py defines no 'Hlaf'"),
    ],
)
def test_own_code_that_fails_before_training_is_one_message_with_its_place(
    wola, tmp_path, module, code, words, place
):
    (tmp_path / f"{module}.py").write_text(code)

    result = wola("train", *SHORT, "--aggregator", f"{module}:{words}")

    assert result.exit_code == 2
    assert place in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_model_of_ones_own_that_fails_is_told_before_anything_is_written(wola, tmp_path):
    (tmp_path / "own_net.py").write_text("def net(shape, classes):\n    return shape['no']\n")

    result = wola("train", *SHORT, "--model", "own_net:net")

    assert result.exit_code == 2
    assert "own_net.py, line 2: TypeError" in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("module", "words"), [("own_late", ()), ("own_later", ("--debug",))])
def test_own_code_that_fails_in_training_ends_in_1_with_its_place(wola, tmp_path, module, words):
    (tmp_path / f"{module}.py").write_text(RULE)

    result = wola("train", *SHORT, "--aggregator", f"{module}:Half(k=4)", *words)

    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == (
        f"wola: {module}.py, line 13: ZeroDivisionError: division by zero"
    )
    assert ("Traceback" in result.stderr) == ("--debug" in words)


def test_ctrl_c_leaves_a_checkpoint_and_resume_ends_in_the_same_bits(tmp_path):
    words = ["--dataset", "iris", "--steps", "600", "--batch", "8", "--seed", "4"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*COMMAND, "train", *words, "--out", "my run"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert first.startswith("step 10/600")
    assert process.returncode == 130
    assert "Traceback" not in err
    told = out.splitlines()[-1]
    assert "interrupted after step" in told
    assert told.endswith("go on with: wola train --resume --out 'my run'")
    assert {p.name for p in (tmp_path / "my run").iterdir()} == {"scenario.json", "checkpoint.pt"}

    done = subprocess.run(
        [*COMMAND, "train", "--resume", "--out", "my run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("going on after step ")
    assert "\x1b" not in done.stdout + done.stderr
    whole = simulate(Scenario.paper("iris", steps=600, batch=8, seed=4))
    assert digest(tmp_path / "my run") == whole.digest()
