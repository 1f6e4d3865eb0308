"""Where a run was computed: what its bits depend on beside the scenario."""

import platform
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import numba
import numpy as np
import torch

_CPUINFO = Path("/proc/cpuinfo")
#: Instruction sets that decide in which order and how exactly numbers are added up.
_VECTOR_SETS = ("sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "sve", "sve2")


def environment(device: str = "cpu") -> dict[str, str]:
    """The processor, its instruction set as PyTorch and numba use it, libraries and versions.

    The same scenario gives the same bits where all of these are the same; elsewhere sums may be
    rounded in another way. `device` is that of the scenario.

    >>> environment()["python"] == platform.python_version()
    True
    """
    return dict(_looked_up(device))


@lru_cache(maxsize=8)
def _looked_up(device: str) -> Mapping[str, str]:
    _, numba_cpu, features = numba.core.registry.cpu_target.target_context.codegen().magic_tuple()
    used = {name[1:] for name in features.split(",") if name.startswith("+")}
    found = {
        "processor": processor(),
        "torch_instructions": torch.backends.cpu.get_cpu_capability(),
        "numba_processor": numba_cpu,
        "numba_instructions": " ".join(name for name in _VECTOR_SETS if name in used),
        "torch_blas": _torch_blas(torch.__config__.show()),
        "numpy_blas": np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"],
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("torch", "numba", "numpy", "wola")},
    }
    if torch.device(device).type == "cuda":
        found["gpu"] = torch.cuda.get_device_name(device)
    return found


def processor() -> str:
    """The model of the processor, as far as the system tells it."""
    text = _CPUINFO.read_text(errors="replace") if _CPUINFO.is_file() else ""
    named = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or platform.machine()


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What differs between two environments, in words; empty if nothing does.

    >>> differences({"torch": "2.1", "numpy": "2.0"}, {"torch": "2.2", "numpy": "2.0"})
    'torch = 2.1 before, 2.2 now'
    """
    names = [k for k in sorted({**before, **now}) if before.get(k) != now.get(k)]
    return ", ".join(
        f"{k} = {before.get(k, 'none')} before, {now.get(k, 'none')} now" for k in names
    )


def _torch_blas(config: str) -> str:
    named = re.search(r"BLAS_INFO=(\w+)", config)
    return named[1] if named else "unknown"
