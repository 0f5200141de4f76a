"""A process of root that is held to the permissions of files, as everybody else is."""

from __future__ import annotations

import ctypes


def obey_permissions() -> None:
    """Give up what lets root read and write whatever permissions files have (capabilities(7))."""
    libc = ctypes.CDLL(None, use_errno=True)
    version_and_process = (ctypes.c_uint32 * 2)(0x20080522, 0)
    # Effective, permitted, inheritable; then the same for the capabilities behind the first 32.
    sets = (ctypes.c_uint32 * 6)()
    overriding = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    libc.capget(version_and_process, sets)
    for at in range(3):
        sets[at] &= ~overriding
    if libc.capset(version_and_process, sets):
        raise OSError(ctypes.get_errno(), "capset")
