"""Measure how long reads of the API take while many conversations are open.

A server is started as `dossier serve` starts it. Its clients open threads of LangGraph and keep
them, and then read lists, reports and memories side by side. `python -m benchmarks.api_latency
[--threads 100] [--reads 2000] [--clients 4]` prints how long each kind of read took; it ends with 1
if 95 of 100 reads took 100 ms or more. Beside it, `--upload 1000` sends a file of so many megabytes
and prints how much memory the server needed for that.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from benchmarks.api_fuzz import SECRET

LIMIT = 0.1
"""In so many seconds 95 of 100 reads are to be answered."""

QUESTION = "How do the two papers disagree about forgetting?"
DOCS = Path(__file__).parents[1] / "examples" / "docs"
PORT = 18_431
PART = 8_000_000


def _start(home: Path, more: Mapping[str, str]) -> subprocess.Popen[str]:
    home.mkdir()
    environment = {**os.environ, "DOSSIER_HOME": str(home), "DOSSIER_MODEL": "extractive:", **more}
    environment["DOSSIER_KEYLESS_SEARCH"] = "false"
    command = [str(Path(sys.executable).with_name("dossier")), "serve", "--port", str(PORT)]
    log = (home.parent / "server.log").open("w")
    return subprocess.Popen(  # noqa: S603 - it is this program
        command, env=environment, cwd=home, stdout=log, stderr=log, text=True
    )


@asynccontextmanager
async def _serve(home: Path, **more: str) -> AsyncIterator[httpx.AsyncClient]:
    """Start a server with a home of its own; yield a client that has its token."""
    server = await asyncio.to_thread(_start, home, more)
    try:
        url = f"http://127.0.0.1:{PORT}"
        async with httpx.AsyncClient(base_url=url, timeout=120) as client:
            await _wait(client)
            client.headers["x-api-key"] = (home / "server-token").read_text().strip()
            client.headers["x-server"] = str(server.pid)
            yield client
    finally:
        server.terminate()
        await asyncio.to_thread(server.wait, 30)


async def _wait(client: httpx.AsyncClient) -> None:
    for _ in range(600):
        try:
            if (await client.get("/api/health")).status_code == 200:
                return
        except httpx.HTTPError:
            await asyncio.sleep(0.2)
    sys.exit("the server does not start")


async def _prepare(client: httpx.AsyncClient, threads: int) -> str:
    """Answer a question, open threads, and store facts; return the run of the question."""
    folder = (await client.post("/api/upload-folders", json={"name": "Papers"})).json()["id"]
    for file in await asyncio.to_thread(lambda: sorted(DOCS.glob("*.*"))):
        text = await asyncio.to_thread(file.read_bytes)
        sent = {"name": file.name, "folder": folder}
        (await client.post("/api/uploads", params=sent, content=text)).raise_for_status()
    opened = [(await client.post("/threads", json={})).json()["thread_id"] for _ in range(threads)]
    asked = {
        "assistant_id": "dossier",
        "input": {"messages": [{"role": "user", "content": QUESTION}]},
        "context": {"files": [folder], "auto_accept": True},
    }
    (await client.post(f"/threads/{opened[0]}/runs/wait", json=asked)).raise_for_status()
    for number in range(50):
        await client.post("/api/memories", json={"text": f"I have visited tower {number}."})
    runs = (await client.get("/api/runs")).json()["items"]
    return str(runs[0]["run"])


async def _read(
    client: httpx.AsyncClient, paths: Sequence[str], reads: int, clients: int
) -> Mapping[str, list[float]]:
    """Read addresses in turn, several at once; return the seconds of each read."""
    taken: dict[str, list[float]] = defaultdict(list)
    waiting = [path for _ in range(reads // len(paths)) for path in paths]

    async def work() -> None:
        while waiting:
            path = waiting.pop()
            began = time.perf_counter()
            (await client.get(path)).raise_for_status()
            taken[path].append(time.perf_counter() - began)

    await asyncio.gather(*(work() for _ in range(clients)))
    return taken


def _print_times(taken: Mapping[str, list[float]]) -> bool:
    """Print how long reads took; say whether all kinds are within the limit."""
    print(f"{'read':44} {'p50':>8} {'p95':>8} {'largest':>8}")
    fine = True
    for path, seconds in [
        *taken.items(),
        ("all", [one for some in taken.values() for one in some]),
    ]:
        p95 = statistics.quantiles(seconds, n=20)[-1]
        cells = (statistics.median(seconds), p95, max(seconds))
        print(f"{path[:44]:44}", *(f"{one * 1000:5.0f} ms" for one in cells))
        fine = fine and (path != "all" or p95 < LIMIT)
    return fine


def _memory(pid: str) -> tuple[float, float]:
    """Return the megabytes that a process has in memory now, and had at most."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    told = {
        name: rest.split()[0]
        for name, _, rest in (line.partition(":") for line in lines)
        if rest.strip()
    }
    return int(told["VmRSS"]) / 1024, int(told["VmHWM"]) / 1024


async def _upload(client: httpx.AsyncClient, megabytes: int) -> None:
    """Send a file in one part by tus, and print the memory of the server."""
    size, pid = megabytes * 1_000_000, client.headers["x-server"]
    line = f"{SECRET} is the word of this line, and there are many lines like it.\n".encode()
    block = (line * (PART // len(line) + 1))[:PART]

    async def body() -> AsyncIterator[bytes]:
        for at in range(0, size, PART):
            yield block[: size - at]

    tus = {"tus-resumable": "1.0.0"}
    said = {**tus, "upload-length": str(size), "upload-metadata": "filename bGFyZ2UudHh0"}
    before = _memory(pid)
    began = time.perf_counter()
    place = (await client.post("/api/uploads", headers=said)).headers["location"]
    kind = {"content-type": "application/offset+octet-stream", "upload-offset": "0"}
    answer = await client.patch(place, headers={**tus, **kind}, content=body())
    answer.raise_for_status()
    seconds = time.perf_counter() - began
    after = _memory(pid)
    told = (await client.get(place, params={"wait": 60})).json()
    read = _memory(pid)
    print(f"upload of {megabytes} MB: {seconds:.1f} s, then {told['status']} {told['code']}")
    print(
        f"memory of the server: {before[0]:.0f} MB before, {after[0]:.0f} MB after, at most "
        f"{after[1]:.0f} MB meanwhile (at most {before[1]:.0f} MB before), {read[1]:.0f} MB reading"
    )


async def _main(chosen: argparse.Namespace, home: Path) -> int:
    most = str(max(30, chosen.upload + 1) * 1_000_000)
    async with _serve(home, DOSSIER_UPLOAD_BYTES=most) as client:
        pid = client.headers["x-server"]
        print(f"memory of the server, idle: {_memory(pid)[0]:.0f} MB")
        if chosen.upload:
            await _upload(client, chosen.upload)
        if not chosen.reads:
            return 0
        run = await _prepare(client, chosen.threads)
        paths = [
            *("/api/health", "/api/runs", f"/api/runs/{run}", f"/api/runs/{run}/cost"),
            *("/api/reports", "/api/reports?search=tower", f"/api/reports/{run}"),
            *(f"/api/reports/{run}/sources", f"/api/reports/{run}/sources/1"),
            *("/api/memories?memory=facts", "/api/memories/search?q=tower", "/api/memory-events"),
            *("/api/uploads", "/api/upload-folders", "/api/knowledge-bases", "/api/proposals"),
        ]
        await _read(client, paths, len(paths) * 2, 1)
        load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        print(f"{chosen.threads} open threads, {chosen.clients} clients at once, {load}")
        taken = await _read(client, paths, chosen.reads, chosen.clients)
        return 0 if _print_times(taken) else 1


def main() -> None:
    """Start a server, and read from it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=100)
    parser.add_argument("--reads", type=int, default=2_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--upload", type=int, default=0, metavar="MB")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        sys.exit(asyncio.run(_main(chosen, Path(place, "home"))))


if __name__ == "__main__":
    main()
