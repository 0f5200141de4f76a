"""A seccomp filter that refuses the system calls no computation needs.

They reach other processes, the kernel itself or other networks, make new namespaces, or keep memory
that no process is charged with.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple

REFUSED = (
    "acct",
    "add_key",
    "adjtimex",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mbind",
    "memfd_create",
    "memfd_secret",
    "migrate_pages",
    "modify_ldt",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "mq_open",
    "msgget",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "semget",
    "set_mempolicy",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "shmat",
    "shmctl",
    "shmget",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "uselib",
    "userfaultfd",
    "vhangup",
    "vmsplice",
)
"""The calls that fail, where the processor has them."""

EVERYWHERE = {
    "fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433, "io_uring_enter": 426,
    "io_uring_register": 427, "io_uring_setup": 425, "memfd_secret": 447, "mount_setattr": 442,
    "move_mount": 429, "open_tree": 428, "pidfd_getfd": 438, "process_madvise": 440,
    "quotactl_fd": 443, "clone3": 435,
}  # fmt: skip
"""The numbers of calls that came after all processors had agreed on them."""

X86_64 = {
    "acct": 163, "add_key": 248, "adjtimex": 159, "bpf": 321, "chroot": 161, "clock_adjtime": 305,
    "clock_settime": 227, "clone": 56, "delete_module": 176, "fanotify_init": 300,
    "finit_module": 313, "init_module": 175, "ioctl": 16, "ioperm": 173, "iopl": 172, "kcmp": 312,
    "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250, "lookup_dcookie": 212, "mbind": 237,
    "memfd_create": 319, "migrate_pages": 256, "mmap": 9, "modify_ldt": 154, "mount": 165,
    "move_pages": 279, "mq_open": 240, "msgget": 68, "name_to_handle_at": 303, "nfsservctl": 180,
    "open_by_handle_at": 304, "perf_event_open": 298, "personality": 135, "pivot_root": 155,
    "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101, "quotactl": 179,
    "reboot": 169, "request_key": 249, "semget": 64, "set_mempolicy": 238, "setdomainname": 171,
    "sethostname": 170, "setns": 308, "settimeofday": 164, "shmat": 30, "shmctl": 31, "shmget": 29,
    "socket": 41, "swapoff": 168, "swapon": 167, "syslog": 103, "umount2": 166, "unshare": 272,
    "uselib": 134, "userfaultfd": 323, "vhangup": 153, "vmsplice": 278,
}  # fmt: skip

AARCH64 = {
    "acct": 89, "add_key": 217, "adjtimex": 171, "bpf": 280, "chroot": 51, "clock_adjtime": 266,
    "clock_settime": 112, "clone": 220, "delete_module": 106, "fanotify_init": 262,
    "finit_module": 273, "init_module": 105, "ioctl": 29, "kcmp": 272, "kexec_file_load": 294,
    "kexec_load": 104, "keyctl": 219, "lookup_dcookie": 18, "mbind": 235, "memfd_create": 279,
    "migrate_pages": 238, "mmap": 222, "mount": 40, "move_pages": 239, "mq_open": 180,
    "msgget": 186, "name_to_handle_at": 264, "nfsservctl": 42, "open_by_handle_at": 265,
    "perf_event_open": 241,
    "personality": 92, "pivot_root": 41, "process_vm_readv": 270, "process_vm_writev": 271,
    "ptrace": 117, "quotactl": 60, "reboot": 142, "request_key": 218, "semget": 190,
    "set_mempolicy": 237, "setdomainname": 162, "sethostname": 161, "setns": 268,
    "settimeofday": 170, "shmat": 196, "shmctl": 195, "shmget": 194, "socket": 198,
    "swapoff": 225, "swapon": 224, "syslog": 116, "umount2": 39, "unshare": 97,
    "userfaultfd": 282, "vhangup": 58, "vmsplice": 75,
}  # fmt: skip

ALLOW, REFUSE, UNKNOWN, KILL = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x80000000
"""What a filter returns: go on, EPERM, ENOSYS, or the end of the process."""

LOAD, AND, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
"""Instructions of the classic Berkeley packet filter."""

NUMBER, ARCHITECTURE = 0, 4
FIRST_ARGUMENT, SECOND_ARGUMENT, FOURTH_ARGUMENT = 16, 24, 40
"""Where the data that a filter sees begin: the call, the processor, the low half of arguments."""

NEW_NAMESPACES = 0x7E020000
"""The flags of clone that make a namespace."""

X32 = 0x40000000
"""The calls of another convention on x86-64 begin here."""

UNIX_FAMILY = 1
TERMINAL_INPUT = 0x5412, 0x541C
"""The requests of ioctl that put characters into a terminal: TIOCSTI, TIOCLINUX."""


SHARED_MEMORY = 0x01 | 0x20
"""The flags of mmap, MAP_SHARED and MAP_ANONYMOUS, for memory that outlives who has filled it."""


class Processor(NamedTuple):
    """How the kernel names a processor, and its numbers of calls."""

    audit: int
    calls: Mapping[str, int]


PROCESSORS = {
    "x86_64": Processor(0xC000003E, X86_64 | EVERYWHERE),
    "aarch64": Processor(0xC00000B7, AARCH64 | EVERYWHERE),
}


def build_filter(machine: str = "") -> bytes:
    """Return the filter for a processor, by default this one, as the kernel takes it.

    Raises:
        KeyError: When the numbers of its calls are not known.
    """
    audit, calls = PROCESSORS[machine or platform.machine()]
    lines = [
        (LOAD, 0, 0, ARCHITECTURE),
        *_when(JUMP_EQUAL, audit, (), otherwise=KILL),
        (LOAD, 0, 0, NUMBER),
        *_when(JUMP_AT_LEAST, X32, [(RETURN, 0, 0, UNKNOWN)]),
        *_when(JUMP_EQUAL, calls["clone3"], [(RETURN, 0, 0, UNKNOWN)]),
    ]
    refused = [calls[name] for name in REFUSED if name in calls]
    for number in refused:
        lines += _when(JUMP_EQUAL, number, [(RETURN, 0, 0, REFUSE)])
    lines += _when(JUMP_EQUAL, calls["clone"], _refuse_bits(FIRST_ARGUMENT, NEW_NAMESPACES))
    lines += _when(JUMP_EQUAL, calls["socket"], _refuse_others(FIRST_ARGUMENT, UNIX_FAMILY))
    lines += _when(JUMP_EQUAL, calls["ioctl"], _refuse_values(SECOND_ARGUMENT, TERMINAL_INPUT))
    lines += _when(JUMP_EQUAL, calls["mmap"], _refuse_all_bits(FOURTH_ARGUMENT, SHARED_MEMORY))
    lines.append((RETURN, 0, 0, ALLOW))
    return b"".join(_encode(*line) for line in lines)


Line = tuple[int, int, int, int]
"""An instruction: what it does, how far it jumps if true and if false, and its operand."""


def _when(jump: int, value: int, then: Iterable[Line], otherwise: int = ALLOW) -> list[Line]:
    """Return lines that are run if the loaded word fits; without lines, other words end it."""
    lines = list(then)
    if lines:
        return [(jump, 0, len(lines), value), *lines]
    return [(jump, 1, 0, value), (RETURN, 0, 0, otherwise)]


def _refuse_bits(place: int, bits: int) -> list[Line]:
    test = _when(JUMP_ANY_BIT, bits, [(RETURN, 0, 0, REFUSE)])
    return [(LOAD, 0, 0, place), *test, (RETURN, 0, 0, ALLOW)]


def _refuse_all_bits(place: int, bits: int) -> list[Line]:
    test = _when(JUMP_EQUAL, bits, [(RETURN, 0, 0, REFUSE)])
    return [(LOAD, 0, 0, place), (AND, 0, 0, bits), *test, (RETURN, 0, 0, ALLOW)]


def _refuse_others(place: int, value: int) -> list[Line]:
    test = _when(JUMP_EQUAL, value, [(RETURN, 0, 0, ALLOW)])
    return [(LOAD, 0, 0, place), *test, (RETURN, 0, 0, REFUSE)]


def _refuse_values(place: int, values: Iterable[int]) -> list[Line]:
    tests = (_when(JUMP_EQUAL, value, [(RETURN, 0, 0, REFUSE)]) for value in values)
    return [(LOAD, 0, 0, place), *chain.from_iterable(tests), (RETURN, 0, 0, ALLOW)]


def _encode(code: int, true: int, false: int, operand: int) -> bytes:
    return code.to_bytes(2, "little") + bytes((true, false)) + operand.to_bytes(4, "little")
