"""How many ticks a second one server thread takes over TCP, by frame size; nothing goes to disk."""

from __future__ import annotations

import multiprocessing
import time
from threading import Event

from loguru import logger

from mt5bridge.client import Connection
from mt5bridge.server import Batch, Server, Settings, Sink, ticks_of
from mt5bridge.simulator import Runner, Walk, random_walk, simulated_terminal
from tests.credentials import CREDENTIAL, PASSWORDS

SYMBOL = "EURUSD"


def publish(address: str, ticks: int, frame_ticks: int) -> None:
    """The terminal's process: sends everything, ends when it is acknowledged."""
    terminal = simulated_terminal({SYMBOL: random_walk(Walk(ticks=ticks))})
    terminal.client.batch_records = frame_ticks
    with Connection(address, CREDENTIAL) as connection:
        Runner(terminal, connection).run(Event(), lambda: terminal.finished)


def run(ticks: int, frame_ticks: int) -> tuple[float, float]:
    """Ticks a second from the first to the last one, by wall time and by the server's CPU time."""
    marks: list[tuple[float, float]] = []
    taken = 0

    def on_batch(batch: Batch) -> bool:
        nonlocal taken
        if not taken or batch.last == ticks:
            marks.append((time.perf_counter(), time.thread_time()))
        taken += len(batch.records)
        server.acknowledge(batch.identity, ticks_of(SYMBOL), batch.last)
        return True

    with Server(Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink(on_batch)) as server:
        arguments = (server.address, ticks, frame_ticks)
        terminal = multiprocessing.get_context("spawn").Process(target=publish, args=arguments)
        terminal.start()
        while terminal.is_alive():
            server.poll_once(50)
        terminal.join()
    assert taken == ticks
    (wall, cpu), (wall_end, cpu_end) = marks
    return ticks / (wall_end - wall), ticks / (cpu_end - cpu)


def main() -> None:
    logger.remove()
    print("| ticks a frame | ticks/s | ticks/s of server CPU |\n|---|---|---|")
    for frame_ticks, ticks in ((1, 200_000), (10, 1_000_000), (100, 4_000_000), (1000, 8_000_000)):
        rate, cpu_rate = run(ticks, frame_ticks)
        print(f"| {frame_ticks} | {rate:,.0f} | {cpu_rate:,.0f} |")


if __name__ == "__main__":
    main()
