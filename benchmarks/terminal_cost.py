"""What the terminal's side costs: CPU time and bytes a tick, and latency beside bare libzmq.

    python -m benchmarks.terminal_cost

The publisher EA runs, compiled from its MQL5 sources, on the emulated terminal against the Python
server, which acknowledges at once. CPU time is that of the EA's handlers. For the latency a frame
goes to a Python ROUTER that echoes it: from a C program with libzmq, from the EA's ZMTP client.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import zmq

from benchmarks.machine import describe
from benchmarks.measure import FOLDER, table
from mt5bridge.emulator.script import Script, statement
from mt5bridge.emulator.terminal import EmulatedTerminal, write_tick_file
from mt5bridge.server import DEALS
from mt5bridge.simulator import Walk, random_walk
from mt5bridge.terminal.sources import sources_folder
from tests.bridge.live import Daemon
from tests.credentials import CREDENTIAL
from tests.mql5.probing import letting_in
from tests.waiting import LONG_S

PUBLISHER = "Experts/Mt5Bridge/Publisher.mq5"
ROUNDS = 5_000
FRAME_BYTES = (100, 6_040)
"""A frame of one tick, and of a hundred."""
PACES = {
    "100 ticks/s": ("rate=100", 1_000),
    "1,000 ticks/s": ("rate=1000", 10_000),
    "10,000 ticks/s": ("rate=10000", 100_000),
    "as fast as it goes": ("step=1..6", 400_000),
}


@contextmanager
def echo() -> Iterator[int]:
    """The port of a ROUTER that sends every message back."""
    stop = threading.Event()
    with letting_in(CREDENTIAL) as router:
        router.linger = 0
        port = router.bind_to_random_port("tcp://127.0.0.1")

        def run() -> None:
            while not stop.is_set():
                if router.poll(50):
                    router.send_multipart(router.recv_multipart())

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield port
        finally:
            stop.set()
            thread.join()


def bare(frame_bytes: int, folder: Path) -> list[float]:
    """Round trips of the C program, in microseconds."""
    program = folder / "dealer"
    library = libzmq()
    command = ["gcc", "-std=gnu11", "-O2", str(FOLDER / "dealer.c"), str(library), "-o"]
    command += [str(program), f"-Wl,-rpath,{library.parent}", "-Wl,--allow-shlib-undefined"]
    subprocess.run(command, check=True)
    with echo() as port:
        who = [CREDENTIAL.user, CREDENTIAL.password]
        command = [str(program), f"tcp://127.0.0.1:{port}", *who, str(frame_bytes), str(ROUNDS)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [float(line) for line in done.stdout.split()]


def libzmq() -> Path:
    """The library that pyzmq brings with it."""
    package = Path(zmq.__file__).parent
    found = sorted([*package.parent.glob("pyzmq.libs/libzmq*.so*"), *package.rglob("libzmq*.so*")])
    if not found:
        raise SystemExit("pyzmq brings no libzmq here; install pyzmq from its wheel")
    return found[0]


def own_client(frame_bytes: int, folder: Path) -> list[float]:
    """Round trips of our ZMTP client in MQL5, in microseconds."""
    with echo() as port:
        script = Script.of(
            "symbol EURUSD digits=5", "sockets allowed=127.0.0.1",
            f"attach PingPong on EURUSD Port={port} Bytes={frame_bytes} Rounds={ROUNDS}",
        )  # fmt: skip
        programs = [FOLDER / "PingPong.mq5"]
        with EmulatedTerminal(programs, script, folder / "ping", credential=CREDENTIAL) as terminal:
            terminal.wait_journal("\tdone", LONG_S)
            journal = terminal.journal
    return [float(line.rpartition("us ")[2]) for line in journal if "\tus " in line]


def latency(folder: Path) -> str:
    """A table of round trips by frame size."""
    rows = []
    for frame_bytes in FRAME_BYTES:
        for name, measured in (("C with libzmq", bare), ("MQL5 client", own_client)):
            times = np.array(measured(frame_bytes, folder / f"{measured.__name__}{frame_bytes}"))
            median, high = np.percentile(times[len(times) // 10 :], [50, 99])
            rows.append([f"{frame_bytes:,} bytes", name, f"{median:.0f}", f"{high:.0f}"])
    return table(["frame", "client", "median µs", "99th percentile µs"], rows)


def published(pace: str, ticks: int, folder: Path) -> list[str]:
    """What so many ticks of the chart's symbol cost, those before its start among them."""
    path = write_tick_file(folder / "ticks.bin", random_walk(Walk(ticks)))
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        script = Script.of(
            "symbol EURUSD digits=5", statement("ticks", "EURUSD", path=path), f"pace {pace}",
            "clock elapsed=real", "sockets allowed=127.0.0.1",
            f"attach Publisher on EURUSD Port={port} ShowStatus=false BackfillMinutes=1",
        )  # fmt: skip
        terminal = EmulatedTerminal(
            [sources_folder() / PUBLISHER], script, folder / "terminal", credential=CREDENTIAL
        )
        with terminal:
            terminal.wait(lambda _stats: taken(daemon) >= ticks, LONG_S)
            stats = terminal.stop().stats
    assert stats is not None
    publisher = stats.program("Publisher")
    longest = max(publisher.handler(name).longest_us for name in ("OnTick", "OnTimer"))
    return [
        f"{ticks:,}",
        f"{publisher.cpu_us / ticks:.2f}",
        f"{stats.sockets['sent'] / ticks:.1f}",
        f"{publisher.handler('OnTick').calls:,}",
        f"{longest:,}",
    ]


def taken(daemon: Daemon) -> int:
    """The ticks that have arrived at the server."""
    streams = list(daemon.stored.items())
    return sum(batches[-1].last for (_, stream), batches in streams if stream != DEALS)


def costs(folder: Path) -> str:
    """A table of CPU time and bytes by pace."""
    rows = []
    for number, (name, (pace, ticks)) in enumerate(PACES.items()):
        own = folder / f"pace{number}"
        own.mkdir()
        rows.append([name, *published(pace, ticks, own)])
    head = ["pace", "ticks", "CPU µs a tick", "bytes a tick", "OnTick calls", "longest call µs"]
    return table(head, rows)


def main() -> None:
    if not (shutil.which("g++") and shutil.which("gcc")):
        raise SystemExit("this benchmark compiles MQL5 and C; install gcc and g++")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for frame_bytes in FRAME_BYTES:
            (folder / f"bare{frame_bytes}").mkdir()
        parts = [
            "# What the terminal's side costs",
            "Publishing one symbol, no faults. A tick is 60 bytes; frames, heartbeats and the"
            " handshake are the rest. The emulated terminal's clock is the machine's here: the one"
            " that stands while the machine is busy costs a system call for each look at it.",
            costs(folder),
            "Round trips over loopback to the same ROUTER in Python, which echoes. libzmq hands a"
            " frame to a thread of its own; the MQL5 client sends it itself, and asks the socket"
            " again and again. In a terminal the EA answers at its next wake-up, which adds up to"
            " one timer period (`TimerMs`).",
            latency(folder),
            describe(),
        ]
    text = "\n\n".join(parts)
    (FOLDER / "terminal_cost.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
