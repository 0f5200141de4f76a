"""Run one program and answer what became of it: the first process within a sandbox.

It is sent there as text and imports nothing of Dossier. It trusts nothing that the program does: as
process 1 it cannot be killed from within, and it ends every process that the program leaves behind.
Requests and replies are frames: eight bytes with a length, and as many bytes.
"""

# Modules that take long to load (json, subprocess, signal) are left alone: every call loads this.
import os
import resource
import select
import sys
import time

KILL = 9
POLL_SECONDS = 0.02
"""How often the group of processes is measured."""

PIPE_BYTES = 65_536
PAGE = os.sysconf("SC_PAGE_SIZE")

ROOT = "/sandbox"
WORK, PROGRAM = f"{ROOT}/work", f"{ROOT}/program.py"
WRITABLE = ROOT, "/tmp", "/dev/shm"

UNDUMPABLE = 4, 0
"""The arguments of prctl: no other process may look into this one."""

Limits = dict[str, int]


def main() -> None:
    """Read a request, run its program and write the reply."""
    if os.getpid() != 1:
        sys.exit("this runs only as the first process of a sandbox")
    uid = int(sys.argv[1])
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    if uid:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    hide()
    limits = read_limits()
    code = read_frame()
    os.mkdir(WORK)
    inputs = write_inputs()
    with open(PROGRAM, "wb") as program:
        program.write(code)
    work = os.open(WORK, os.O_RDONLY | os.O_DIRECTORY)
    status, stopped, texts = Program(limits).run()
    files: list[tuple[bytes, bytes]] = []
    if not stopped:
        files, stopped = collect(work, inputs, limits)
    write_frame(f"{status} {stopped}".encode())
    for text in (*texts, str(len(files)).encode()):
        write_frame(text)
    for name, data in files:
        write_frame(name)
        write_frame(data)


def hide() -> None:
    """Keep the program from looking into this process, where the kernel does not do so already."""
    try:
        with open("/proc/self/mem", "rb"):
            pass
    except PermissionError:
        return
    import ctypes  # noqa: PLC0415

    ctypes.CDLL(None).prctl(*UNDUMPABLE, 0, 0, 0)


def read_limits() -> Limits:
    """Return the limits: names and numbers, separated by spaces."""
    words = read_frame().decode().split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


def read_frame() -> bytes:
    """Return the next frame of the request."""
    return read_exactly(int.from_bytes(read_exactly(8)))


def read_exactly(size: int) -> bytes:
    """Return that many bytes of the request; end if whoever asked is gone."""
    data = bytearray()
    while len(data) < size:
        part = os.read(0, min(size - len(data), 1 << 20))
        if not part:
            os._exit(1)
        data += part
    return bytes(data)


def write_frame(data: bytes) -> None:
    """Add a frame to the reply."""
    rest = memoryview(len(data).to_bytes(8) + data)
    while rest:
        rest = rest[os.write(1, rest) :]


def write_inputs() -> dict[bytes, bytes]:
    """Write the files of the request into the working folder; return them by name."""
    files = {}
    for _ in range(int(read_frame())):
        name, data = read_frame(), read_frame()
        path = os.path.join(WORK.encode(), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        files[name] = data
    return files


class Program:
    """The program with all processes that come of it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.stopped = ""
        self.texts: dict[int, bytearray] = {}
        self.until = time.monotonic() + limits["milliseconds"] / 1000

    def run(self) -> tuple[int, str, tuple[bytes, bytes]]:
        """Run it to its end; return its exit status, why it was stopped, and both its outputs."""
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            become_program(out_end, err_end, self.limits)
        os.close(out_end)
        os.close(err_end)
        self.texts = {out: bytearray(), err: bytearray()}
        self.watch(os.pidfd_open(pid))
        status = self.end(pid)
        self.drain()
        return status, self.stopped, (bytes(self.texts[out]), bytes(self.texts[err]))

    def watch(self, pid_fd: int) -> None:
        """Read what the program writes until it ends or must be stopped."""
        poll = select.poll()
        for fd in (pid_fd, *self.texts):
            poll.register(fd, select.POLLIN)
        # Nothing more is asked: this is readable only when whoever asked is gone.
        poll.register(0, select.POLLIN)
        measured = 0.0
        while not self.stopped:
            ready = {fd for fd, _ in poll.poll(POLL_SECONDS * 1000)}
            if 0 in ready:
                os._exit(1)
            for fd in ready & self.texts.keys():
                if not self.read(fd):
                    poll.unregister(fd)
            if pid_fd in ready:
                return
            if (now := time.monotonic()) >= measured + POLL_SECONDS:
                self.measure()
                measured = now

    def read(self, fd: int) -> bool:
        """Read once from an output; tell whether there may be more."""
        data = os.read(fd, PIPE_BYTES)
        left = self.limits["output_bytes"] - sum(map(len, self.texts.values()))
        self.texts[fd] += data[:left]
        if len(data) > left:
            self.stopped = self.stopped or "output"
        return bool(data)

    def measure(self) -> None:
        """Note which limit the group of processes has passed."""
        if time.monotonic() >= self.until:
            self.stopped = "time"
            return
        disks = [os.statvfs(folder) for folder in WRITABLE]
        if sum(disk.f_files - disk.f_ffree for disk in disks) > self.limits["disk_files"]:
            self.stopped = "files"
        used = sum((disk.f_blocks - disk.f_bfree) * disk.f_frsize for disk in disks)
        processes, resident = measure_processes()
        if used + resident > self.limits["memory_bytes"] or processes > self.limits["processes"]:
            self.stopped = "memory"

    def end(self, pid: int) -> int:
        """Kill every process of the sandbox but this one; return the exit status of the program."""
        if self.stopped:
            kill_all()
        status = os.waitpid(pid, 0)[1]
        while True:
            kill_all()
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return os.waitstatus_to_exitcode(status)

    def drain(self) -> None:
        """Read what is left in the pipes, which nobody holds open any more."""
        for fd in self.texts:
            while self.read(fd):
                pass


def become_program(out: int, err: int, limits: Limits) -> None:
    """Turn this process into the program."""
    os.setsid()
    nothing = os.open("/dev/null", os.O_RDONLY)
    for here, there in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(here, there)
    os.closerange(3, 256)
    os.chdir(WORK)
    seconds = limits["milliseconds"] // 1000 + 1
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, limits["address_bytes"]),
        (resource.RLIMIT_FSIZE, limits["disk_bytes"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (value, value))
    some = sorted(os.sched_getaffinity(0))[: limits["processors"]]
    os.sched_setaffinity(0, some)
    os.nice(5)
    os.execv(sys.executable, [sys.executable, "-E", "-s", "-P", "-B", "-u", PROGRAM])


def measure_processes() -> tuple[int, int]:
    """Return how many threads the other processes have, and how many bytes are theirs alone."""
    threads = resident = 0
    for name in os.listdir("/proc"):
        if name == "1" or not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb", buffering=0) as stat:
                # The name of a command may hold spaces and brackets.
                threads += int(stat.read(4096).rpartition(b")")[2].split()[17])
            with open(f"/proc/{name}/statm", "rb", buffering=0) as statm:
                _, all_pages, shared = statm.read(4096).split()[:3]
        except (OSError, IndexError, ValueError):
            continue
        resident += (int(all_pages) - int(shared)) * PAGE
    return threads, resident


def kill_all() -> None:
    """Kill every process but this one."""
    try:
        os.kill(-1, KILL)
    except ProcessLookupError:
        return


def collect(
    work: int, inputs: dict[bytes, bytes], limits: Limits
) -> tuple[list[tuple[bytes, bytes]], str]:
    """Return the regular files that are new or changed, and `files` if they are too many.

    No link is followed, and nothing is opened that could block.
    """
    found: list[tuple[bytes, bytes]] = []
    left = limits["file_bytes"]
    for path, folder in walk(work):
        data = read_regular(folder, path, left)
        if data is None or inputs.get(path) == data:
            continue
        left -= len(data)
        if left < 0 or len(found) == limits["files"]:
            return [], "files"
        found.append((path, data))
    return sorted(found), ""


def walk(work: int):  # type: ignore[no-untyped-def]
    """Yield each regular file below a folder: its path and the open folder that holds it."""
    folders = [(b"", os.dup(work))]
    while folders:
        path, folder = folders.pop()
        for entry in os.scandir(folder):
            name = path + os.fsencode(entry.name)
            if entry.is_dir(follow_symlinks=False):
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                try:
                    folders.append((name + b"/", os.open(entry.name, flags, dir_fd=folder)))
                except OSError:
                    continue
            elif entry.is_file(follow_symlinks=False):
                yield name, folder
        os.close(folder)


def read_regular(folder: int, path: bytes, most: int) -> bytes | None:
    """Return the bytes of a file, one more than `most` at most; none if it cannot be read."""
    try:
        file = os.open(
            os.path.basename(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder
        )
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        return opened.read(most + 1)


if __name__ == "__main__":
    main()
