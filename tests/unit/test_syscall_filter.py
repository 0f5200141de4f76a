"""The filter of system calls, run as the kernel runs it."""

from __future__ import annotations

import struct

import pytest

from tools.sandbox.syscall_filter import (
    AARCH64,
    ALLOW,
    KILL,
    PROCESSORS,
    REFUSE,
    REFUSED,
    UNKNOWN,
    X86_64,
    build_filter,
)

NUMBERS_OF_READ = {"x86_64": 0, "aarch64": 63}


def decide(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """Return what the filter says of a call."""
    audit = PROCESSORS[machine].audit if audit is None else audit
    data = struct.pack("<IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = list(struct.iter_unpack("<HBBI", build_filter(machine)))
    place = loaded = 0
    while True:
        code, true, false, operand = lines[place]
        place += 1
        match code:
            case 0x20:
                (loaded,) = struct.unpack_from("<I", data, operand)
            case 0x54:
                loaded &= operand
            case 0x06:
                return int(operand)
            case 0x15:
                place += true if loaded == operand else false
            case 0x35:
                place += true if loaded >= operand else false
            case 0x45:
                place += true if loaded & operand else false
            case _:
                pytest.fail(f"no such instruction: {code:#x}")


@pytest.mark.parametrize("machine", PROCESSORS)
def test_calls_that_no_computation_needs_are_refused(machine: str) -> None:
    calls = PROCESSORS[machine].calls
    known = [name for name in REFUSED if name in calls]
    assert len(known) >= len(REFUSED) - 5
    assert {decide(machine, calls[name]) for name in known} == {REFUSE}
    assert decide(machine, NUMBERS_OF_READ[machine]) == ALLOW


@pytest.mark.parametrize("machine", PROCESSORS)
@pytest.mark.parametrize(
    ("name", "arguments", "allowed"),
    [
        ("clone", (17,), True),
        ("clone", (0x3D0F00,), True),
        ("clone", (0x10000000 | 17,), False),
        ("clone", (0x00020000,), False),
        ("socket", (1, 1), True),
        ("socket", (2, 1), False),
        ("socket", (10, 2), False),
        ("socket", (16, 3), False),
        ("socket", (40, 1), False),
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),
        ("ioctl", (0, 0x541C), False),
        ("mmap", (0, 4096, 3, 0x22), True),
        ("mmap", (0, 4096, 3, 0x01), True),
        ("mmap", (0, 4096, 3, 0x21), False),
        ("mmap", (0, 4096, 3, 0x8021), False),
    ],
)
def test_some_calls_are_refused_by_what_they_ask(
    machine: str, name: str, arguments: tuple[int, ...], *, allowed: bool
) -> None:
    number = PROCESSORS[machine].calls[name]
    assert decide(machine, number, *arguments) == (ALLOW if allowed else REFUSE)


@pytest.mark.parametrize("machine", PROCESSORS)
def test_a_call_whose_flags_cannot_be_seen_does_not_exist(machine: str) -> None:
    assert decide(machine, PROCESSORS[machine].calls["clone3"], 1, 88) == UNKNOWN


def test_calls_of_another_convention_do_not_slip_through() -> None:
    assert decide("x86_64", 0x40000000 | 101) == UNKNOWN
    assert decide("x86_64", 26, audit=0x40000003) == KILL


def test_no_number_stands_for_two_calls() -> None:
    for calls in (X86_64, AARCH64, *(one.calls for one in PROCESSORS.values())):
        assert len(set(calls.values())) == len(calls)


def test_an_unknown_processor_has_no_filter() -> None:
    with pytest.raises(KeyError):
        build_filter("vax")
