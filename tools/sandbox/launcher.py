"""Run one program and answer what became of it: the first process within a sandbox.

It is sent there as text and imports nothing of Dossier. It trusts nothing that the program does: as
process 1 it cannot be killed from within, and it ends every process that the program leaves behind.
Requests and replies are frames: eight bytes with a length, and as many bytes.
"""

# Every call loads this, so it leaves alone what takes long to load: json, re, signal, subprocess.
import _signal  # type: ignore[import-not-found]
import os
import resource
import select
import sys
import time

INTERRUPT, KILL = 2, 9
POLL_SECONDS = 0.02
"""How often the group of processes is measured."""

PIPE_BYTES = 65_536
SOCKET_BYTES = 425_984
"""What the kernel lets a socket hold of unread data at most, by default."""

LONGEST_NAME = 255
"""How many bytes the name of a file may have, its folders included."""

ROOT = "/sandbox"
WORK, PROGRAM = f"{ROOT}/work", f"{ROOT}/program.py"
WRITABLE = ROOT, "/tmp", "/dev/shm"  # noqa: S108 - of the sandbox alone

UNDUMPABLE = 4, 0
"""The arguments of prctl: no other process may look into this one."""

Limits = dict[str, int]


def main() -> None:
    """Read a request, run its program and write the reply."""
    if os.getpid() != 1:
        sys.exit("this runs only as the first process of a sandbox")
    uid = int(sys.argv[1])
    # The kernel spares a first process the signals that it does not handle; Python handles this.
    _signal.signal(INTERRUPT, _signal.SIG_IGN)
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
        self.pid, self.status = 0, -1
        self.texts: dict[int, bytearray] = {}
        self.until = time.monotonic() + limits["milliseconds"] / 1000

    def run(self) -> tuple[int, str, tuple[bytes, bytes]]:
        """Run it to its end; return its exit status, why it was stopped, and both its outputs."""
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            become_program(out_end, err_end, self.limits)
        os.close(out_end)
        os.close(err_end)
        self.texts = {out: bytearray(), err: bytearray()}
        self.watch()
        self.end()
        status = os.waitstatus_to_exitcode(self.status)
        return status, self.stopped, (bytes(self.texts[out]), bytes(self.texts[err]))

    def watch(self) -> None:
        """Read what the program writes until it ends or must be stopped."""
        poll, ended = select.poll(), os.pidfd_open(self.pid)
        # Nothing more is asked: the request is readable only when whoever asked is gone.
        for fd in (ended, 0, *self.texts):
            poll.register(fd, select.POLLIN)
        measured = 0.0
        while not self.stopped:
            ready = {fd for fd, _ in poll.poll(POLL_SECONDS * 1000)}
            if 0 in ready:
                os._exit(1)
            for fd in ready & self.texts.keys():
                if not self.read(fd):
                    poll.unregister(fd)
            if ended in ready:
                return
            if (now := time.monotonic()) >= measured + POLL_SECONDS:
                self.reap(os.WNOHANG)
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
        threads, memory = measure_processes()
        if used + memory > self.limits["memory_bytes"] or threads > self.limits["processes"]:
            self.stopped = "memory"

    def reap(self, options: int) -> bool:
        """Take note of processes that have ended; tell whether any is left."""
        try:
            while (ended := os.waitpid(-1, options))[0]:
                if ended[0] == self.pid:
                    self.status = ended[1]
        except ChildProcessError:
            return False
        return True

    def end(self) -> None:
        """Kill every process of the sandbox but this one, and read what they have written."""
        if not self.stopped:
            self.status = os.waitpid(self.pid, 0)[1] if self.status < 0 else self.status
        kill_all()
        while self.reap(0):
            kill_all()
        for fd in self.texts:
            while self.read(fd):
                pass


def become_program(out: int, err: int, limits: Limits) -> None:
    """Turn this process into the program."""
    os.setsid()
    _signal.signal(INTERRUPT, _signal.SIG_DFL)
    nothing = os.open("/dev/null", os.O_RDONLY)
    for here, there in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(here, there)
    os.closerange(3, 256)
    os.chdir(WORK)
    seconds = limits["milliseconds"] * limits["processors"] // 1000 + 1
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
    os.execv(sys.executable, [sys.executable, "-E", "-s", "-P", "-B", "-u", PROGRAM])  # noqa: S606


def measure_processes() -> tuple[int, int]:
    """Return how many threads the other processes have, and how many bytes are charged to them.

    What a file in memory holds is measured where it lies. A socket may hold as much as the kernel
    lets it, which is charged to nobody.
    """
    with open("/proc/net/unix", "rb") as sockets:
        memory = (sockets.read().count(b"\n") - 1) * SOCKET_BYTES
    threads = 0
    for name in os.listdir("/proc"):
        if name == "1" or not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/status", "rb", buffering=0) as status:
                lines = dict(line.partition(b":\t")[::2] for line in status.read(8192).split(b"\n"))
        except OSError:
            continue
        threads += int(lines.get(b"Threads", 0))
        for kind in (b"RssAnon", b"VmSwap"):
            memory += int(lines.get(kind, b"0").split()[0]) * 1024
    return threads, memory


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

    No link is followed, and nothing is opened that could block. No process is left that could put
    something else in the place of a file meanwhile.
    """
    os.fchdir(work)
    found: list[tuple[bytes, bytes]] = []
    left = limits["file_bytes"]
    for path in list_files():
        with open(path, "rb") as file:
            data = file.read(left + 1)
        if inputs.get(path) == data:
            continue
        left -= len(data)
        if left < 0 or len(found) == limits["files"]:
            return [], "files"
        found.append((path, data))
    return sorted(found), ""


def list_files() -> list[bytes]:
    """Return the regular files below the current folder whose names are not too long."""
    files, folders = [], [b"."]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            # A folder that was closed, or removed while it was the current one.
            continue
        for entry in entries:
            path = entry.path.removeprefix(b"./")
            if len(path) > LONGEST_NAME:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False) and os.access(path, os.R_OK):
                files.append(path)
    return files


if __name__ == "__main__":
    main()
