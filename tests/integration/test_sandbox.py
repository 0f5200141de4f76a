"""Ways out of a sandbox, and what a program may do in it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from config.errors import ErrorCode, Problem
from evals.sandbox_escapes import ESCAPE_LIMITS, Outside, find_leaks, load_escapes, open_outside
from tools.sandbox import bubblewrap
from tools.sandbox.backend import Backend, SandboxLimits, SandboxResult
from tools.sandbox.sandbox import (
    BACKENDS,
    configured_limits,
    describe_sandbox,
    find_backend,
    run_in,
    run_python,
)

ESCAPES = load_escapes()
CONTROLS = [name for name, escape in ESCAPES.items() if escape.control]

LIMITS = SandboxLimits(seconds=30)


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    with open_outside() as outside:
        yield outside


@pytest.fixture
async def backend() -> Backend:
    status = await describe_sandbox()
    if not status.backend:
        pytest.skip(f"there is no sandbox: {status.obstacle}")
    return await find_backend()


async def run(backend: Backend, code: str, **files: bytes) -> SandboxResult:
    names = {name.replace("_csv", ".csv"): data for name, data in files.items()}
    return await run_in(backend, textwrap.dedent(code), names, LIMITS)


def test_at_least_forty_ways_out_are_tried() -> None:
    assert len(ESCAPES) >= 40


@pytest.mark.parametrize("name", ESCAPES)
async def test_no_program_gets_out(backend: Backend, outside: Outside, name: str) -> None:
    escape = ESCAPES[name]
    result = await run_in(backend, outside.write_program(escape), {}, ESCAPE_LIMITS)
    assert find_leaks(escape, result, outside) == []


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_program_gets_out_without_a_sandbox(
    outside: Outside, name: str, tmp_path: Path
) -> None:
    program = [sys.executable, "-c", outside.write_program(ESCAPES[name])]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, check=True)
    out = "ESCAPED" in done.stdout or outside.secret in done.stdout
    reached = outside.is_reached()
    assert out or reached


async def test_a_program_computes_with_copies_of_its_files(backend: Backend) -> None:
    code = """
        import pandas
        table = pandas.read_csv("sales.csv")
        print(table["amount"].sum())
        table.assign(double=table["amount"] * 2).to_csv("result/double.csv", index=False)
        """
    code = code.replace("table.assign", 'import os; os.mkdir("result"); table.assign')
    given = {"sales.csv": b"amount\n1\n2\n", "untouched.csv": b"x\n"}
    result = await run_in(backend, textwrap.dedent(code), given, LIMITS)
    assert (result.exit_status, result.stdout, result.stopped) == (0, "3\n", "")
    assert result.files == {"result/double.csv": b"amount,double\n1,2\n2,4\n"}
    assert given["sales.csv"] == b"amount\n1\n2\n"


async def test_a_changed_input_comes_back_and_an_unchanged_one_does_not(backend: Backend) -> None:
    code = "open('one.csv', 'a').write('more'); open('two.csv').read()"
    result = await run(backend, code, one_csv=b"1", two_csv=b"2")
    assert result.files == {"one.csv": b"1more"}


async def test_the_packages_for_computing_are_there(backend: Backend) -> None:
    code = """
        import concurrent.futures, sqlite3, zoneinfo
        import duckdb, matplotlib.pyplot as plot, numpy, openpyxl, pandas, scipy.stats
        plot.plot([1, 3, 2], label="\u6570\u636e")
        plot.savefig("plot.png")
        print(duckdb.sql("select sum(i) from range(5) t(i)").fetchall(), matplotlib.get_backend())
        pandas.DataFrame({"a": [1]}).to_excel("table.xlsx")
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            print(list(pool.map(abs, [-1, 2])), zoneinfo.ZoneInfo("Asia/Shanghai"))
        """
    result = await run(backend, code.replace("import duckdb", "import matplotlib, duckdb"))
    assert result.stdout == "[(10,)] Agg\n[1, 2] Asia/Shanghai\n", result.stderr
    assert result.files["plot.png"].startswith(b"\x89PNG")
    assert set(result.files) == {"plot.png", "table.xlsx"}


async def test_a_missing_package_is_named(backend: Backend) -> None:
    result = await run(backend, "import torch_of_tomorrow.vision")
    assert result.exit_status == 1
    assert "torch_of_tomorrow is not in the sandbox" in result.stderr
    assert "nothing is installed" in result.stderr


async def test_an_error_is_told_with_its_line(backend: Backend) -> None:
    result = await run(backend, "x = 1\nprint(x / 0)")
    assert result.exit_status == 1
    assert "line 2" in result.stderr
    assert "ZeroDivisionError" in result.stderr


async def test_what_was_printed_before_the_time_was_up_is_kept(backend: Backend) -> None:
    code = "print('before', flush=True)\nwhile True: pass"
    result = await run_in(backend, code, {}, replace(LIMITS, seconds=1))
    assert (result.stopped, result.stdout, result.files) == ("time", "before\n", {})


async def test_text_holds_no_commands_to_a_terminal(backend: Backend) -> None:
    result = await run(backend, r"print('a\x1b[2Jb\rc\td\x00\x9b')")
    assert result.stdout == "a\ufffd[2Jb\nc\td\ufffd\ufffd\n"


@pytest.mark.parametrize(
    "name",
    ["../up", "/etc/x", "a/../../b", "", ".", "a//b", "a\\b", "a\0b", "x" * 256, "\udcff", "a\nb"],
)
async def test_a_name_that_leads_elsewhere_is_refused(backend: Backend, name: str) -> None:
    with pytest.raises(Problem) as raised:
        await run_in(backend, "pass", {name: b""}, LIMITS)
    assert raised.value.error is ErrorCode.BAD_FILE_NAME


async def test_what_does_not_fit_is_refused_before_it_is_sent(backend: Backend) -> None:
    limits = replace(LIMITS, disk_mib=2)
    with pytest.raises(Problem, match="at most 1,000 files and 1 MiB"):
        await run_in(backend, "pass", {"big": bytes(2**20)}, limits)
    with pytest.raises(Problem, match="no name within a folder"):
        await run_in(backend, "pass", {"a": b"", "a/b": b""}, limits)


async def test_side_by_side_programs_do_not_see_each_other(backend: Backend) -> None:
    code = """
        import os, time
        open("/tmp/mine", "w").write("x"); open("/dev/shm/mine", "w").write("x")
        time.sleep(0.5)
        print(os.listdir("/sandbox/work"), [one for one in os.listdir("/proc") if one.isdigit()])
        """
    first, second = await asyncio.gather(run(backend, code), run(backend, code))
    assert first.stdout == second.stdout == "[] ['1', '2']\n"


BOMB = """
import os, time
count = 0
while count < 100:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except BlockingIOError:
        break
    count += 1
print(count)
"""


async def test_the_kernel_refuses_a_program_more_processes_than_it_may_have(
    backend: Backend,
) -> None:
    result = await run(backend, BOMB)
    assert (result.exit_status, result.stopped) == (0, "")
    assert LIMITS.processes / 2 < int(result.stdout) < LIMITS.processes


async def test_processes_that_the_kernel_does_not_refuse_are_counted(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, kept = bubblewrap.launcher_source(), "resource.RLIMIT_NPROC"
    line = next(line for line in source.splitlines(keepends=True) if kept in line)
    monkeypatch.setattr(bubblewrap, "launcher_source", lambda: source.replace(line, ""))
    result = await run(bubblewrap.Bubblewrap(), f"{BOMB}time.sleep(5)")
    assert result.stopped == "memory"


async def test_a_run_that_is_cancelled_leaves_no_process(
    backend: Backend, outside: Outside
) -> None:
    code = "import os, sys\nos.execv(sys.executable, [sys.executable, '-c',"
    code += f" 'import time; time.sleep(60)', '{outside.mark}'])"
    running = asyncio.create_task(run(backend, code))
    await wait_for(outside, running=True)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    await wait_for(outside, running=False)


async def test_a_program_ends_with_whoever_has_started_it(
    backend: Backend, outside: Outside
) -> None:
    inner = "import os, sys\nos.execv(sys.executable, [sys.executable, '-c',"
    inner += f" 'import time; time.sleep(60)', '{outside.mark}'])"
    code = "import asyncio\nfrom tools.sandbox.sandbox import run_python\n"
    code += f"asyncio.run(run_python({inner!r}))"
    started = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    try:
        await wait_for(outside, running=True)
    finally:
        started.kill()
        await started.wait()
    await wait_for(outside, running=False)


async def wait_for(outside: Outside, *, running: bool) -> None:
    """Wait until a process of a program is there, or is gone."""
    until = time.monotonic() + 20
    while outside.is_daemon_left() is not running:
        assert time.monotonic() < until, "it is still there" if not running else "it never came"
        await asyncio.sleep(0.05)


async def test_without_a_sandbox_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    begun: list[object] = []
    monkeypatch.setattr(asyncio, "create_subprocess_exec", lambda *given, **_: begun.append(given))
    with pytest.raises(Problem) as raised:
        await run_python(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert raised.value.error is ErrorCode.SANDBOX_UNAVAILABLE
    assert "bwrap is not installed" in raised.value.what
    assert "docker is not installed" in raised.value.what
    assert raised.value.hint
    assert begun == []
    assert os.listdir(tmp_path) == []


async def test_a_sandbox_that_is_switched_off_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOSSIER_SANDBOX", "off")
    with pytest.raises(Problem, match="DOSSIER_SANDBOX is off"):
        await run_python("pass")


async def test_nothing_of_it_blocks_the_loop_of_a_server(backend: Backend) -> None:
    configured_limits()
    with blockbuster_ctx():
        # Neither a look for backends nor a run: LangGraph's server ends a run that blocks its loop.
        obstacles = [await one().find_obstacle() for one in BACKENDS.values()]
        result = await run(backend, "print(6 * 7)")

    assert result.stdout == "42\n"
    assert "" in obstacles
