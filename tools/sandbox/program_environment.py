"""What the launcher and the program are given in every sandbox: its text and the environment."""

from __future__ import annotations

from functools import cache
from pkgutil import get_data

TEMPORARY, WORK, SHARED = "/tmp", "/sandbox", "/dev/shm"  # noqa: S108 - of the sandbox alone
"""The folders in which a program may write."""

FOLDERS = TEMPORARY, WORK
"""Those of them whose size a limit names."""

ENVIRONMENT = {
    "HOME": TEMPORARY,
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": TEMPORARY,
    "NUMEXPR_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "/usr/bin",
    "TMPDIR": TEMPORARY,
    "TZ": "UTC",
}
"""All variables that the program sees."""

SHARED_MIB = 32
"""The size of `/dev/shm`, which the processes of one program share."""


@cache
def launcher_source() -> str:
    """Return the text of the launcher."""
    return (get_data("tools.sandbox", "launcher.py") or b"").decode()
