"""The package as users get it: built, read, installed outside the repository and run.

Run by `make package-check`. The wheel is built from the source distribution, installed into an
environment of its own and tried in an empty folder. The quick way borrows the libraries of this
environment, and so checks what the wheel holds; `--full` (`make package-check FULL=1`) lets pip
bring them, as for a user, and so checks what the wheel asks for. Ends with ``N passed, 0 failed``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from zipfile import ZipFile

from checks.tally import Tally

ROOT = Path(__file__).parents[1]

#: Brought first: pip alone would take the newest build, with gigabytes for graphics cards.
TORCH = "torch==2.13.0"

#: What must be in the wheel beside the modules.
NEEDED = (
    "wola/py.typed",
    "wola/bench/costs.json",
    "wola/report/comparison/paper_numbers.csv",
    "wola/report/page/page.html",
    "wola/flower/example/pyproject.toml",
)

#: Imports every module that needs no extra, and says from where.
IMPORT = """
import importlib, pkgutil, wola
names = [each.name for each in pkgutil.walk_packages(wola.__path__, "wola.")]
names = [name for name in names if not name.startswith(("wola.flower", "wola.__main__"))]
for name in names:
    importlib.import_module(name)
print(len(names), wola.__file__)
"""

#: What says that an extra is missing, in an environment that has none.
EXTRAS = {
    "flower": ("flower", "keygen", "keys"),
    "mlflow": ("bench", "quick", "--mlflow", "sqlite:///mlflow.db"),
    "ray": ("bench", "quick", "--ray", "auto"),
    "slurm": ("bench", "quick", "--slurm"),
    "tensorboard": ("bench", "quick", "--tensorboard", "curves"),
    "wandb": ("bench", "quick", "--wandb", "mine"),
}


def main() -> int:
    """Runs all checks; the exit code is 0 if all held."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="install all that the wheel asks for")
    full = parser.parse_args().full
    tally = Tally()
    with TemporaryDirectory(prefix="wola-package-") as folder:
        wheel = built(Path(folder), tally)
        if wheel is not None:
            check_content(wheel, tally)
            environment = Path(folder, "environment")
            if installed(wheel, environment, tally, full=full):
                check_use(environment, Path(folder, "elsewhere"), tally, full=full)
    print(tally.ending())
    return int(tally.failed > 0)


def ran(command: Sequence[object], folder: Path = ROOT) -> tuple[int, str]:
    """The exit code of a command, and all that it said; it sees nothing of this repository."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def built(folder: Path, tally: Tally) -> Path | None:
    """The wheel, built from the source distribution; None if that fails."""
    dist = folder / "dist"
    # With the pinned hatchling: a build environment of its own would fetch it each time.
    code, said = ran([sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, ROOT])
    tally.check("wheel and source distribution are built", code == 0, said)
    if code:
        return None
    code, said = ran([sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir())])
    tally.check("twine finds nothing wrong with them", code == 0, said)
    (wheel,) = dist.glob("*.whl")
    return wheel


def check_content(wheel: Path, tally: Tally) -> None:
    """The wheel holds every file of the source, and nothing beside the package."""
    names = set(ZipFile(wheel).namelist())
    code, said = ran(["git", "ls-files", "src/wola"])
    source = {line.removeprefix("src/") for line in said.splitlines()} if code == 0 else set(NEEDED)
    lost = sorted((source | set(NEEDED)) - names)
    tally.check(f"the wheel holds {len(names)} files, and all of the source", not lost, lost)
    foreign = {name.partition("/")[0] for name in names} - {"wola"}
    strange = [name for name in foreign if not name.endswith(".dist-info")]
    tally.check("nothing beside the package is in it", not strange, strange)


def installed(wheel: Path, environment: Path, tally: Tally, *, full: bool) -> bool:
    """Whether the wheel could be installed into a new environment."""
    code, said = ran([sys.executable, "-m", "venv", environment])
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet"]
    if code == 0 and full:
        code, said = ran([*pip, TORCH])
        if code == 0:
            code, said = ran([*pip, wheel])
        how = "with all that it asks for"
    elif code == 0:
        code, said = ran([*pip, "--no-deps", "--no-index", wheel])
        lend_libraries(environment)
        how = "beside the libraries that are here"
    tally.check(f"the wheel is installed {how}", code == 0, said)
    return code == 0


def lend_libraries(environment: Path) -> None:
    """Lets an environment see the libraries of this one, after its own."""
    ours = sysconfig.get_paths()["purelib"]
    theirs = sysconfig.get_path("purelib", vars={"base": str(environment)})
    Path(theirs, "borrowed.pth").write_text(ours + "\n", encoding="utf-8")


def check_use(environment: Path, folder: Path, tally: Tally, *, full: bool) -> None:
    """What is installed works in an empty folder."""
    folder.mkdir()
    python, wola = environment / "bin" / "python", environment / "bin" / "wola"
    code, said = ran([python, "-c", IMPORT], folder)
    ours = said.strip().endswith(str(Path("site-packages", "wola", "__init__.py")))
    own = ours and str(environment) in said
    tally.check("all its modules are imported from there", code == 0 and own, said)
    code, said = ran([wola, "--version"], folder)
    tally.check("wola says its version", code == 0 and said.startswith("wola "), said)
    if full:
        code, said = ran([python, "-m", "pip", "check"], folder)
        tally.check("pip finds no conflict", code == 0, said)
        for extra, words in EXTRAS.items():
            code, said = ran([wola, *words], folder)
            named = code == 2 and f"pip install 'wola[{extra}]'" in " ".join(said.split())
            tally.check(f"wola {' '.join(words)} names the extra {extra}", named, said)
        tally.say(" ".join(ran([python, "-m", "pip", "freeze"], folder)[1].split()))
    begun = monotonic()
    code, said = ran([wola, "demo"], folder)
    shown = code == 0 and (folder / "demo" / "report" / "index.html").is_file()
    tally.check(f"wola demo makes its page, in {monotonic() - begun:.0f} s", shown, said)


if __name__ == "__main__":
    sys.exit(main())
