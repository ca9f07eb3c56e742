"""Whatever a line does, every tick comes to the disk once and in order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bridge.link import SETTINGS, Link
from tests.campaign import examples

SYMBOLS = ("A", "B")
TICKS = 40

_PLAIN = [
    "connect",
    "client_sends",
    "daemon_sends",
    "daemon_receives",
    "client_receives",
    "commit",
]
_BAD = ["hang_up", "drop", "repeat", "damage", "start_daemon", "fill_disk", "empty_disk"]
# Mostly things go well, or nothing would ever be under way that could go wrong.
_STEP = st.one_of(
    st.tuples(st.just("exchange"), st.integers(1, 8)),
    st.tuples(st.just("exchange"), st.integers(1, 8)),
    st.tuples(st.sampled_from(_PLAIN), st.integers(1, 6)),
    st.tuples(st.sampled_from(_BAD), st.integers(0, 9)),
    st.tuples(st.just("take"), st.integers(1, 12)),
    st.tuples(st.just("pass_time"), st.sampled_from([1, 60, 120, 600])),
)
Steps = list[tuple[str, int]]


def _run(link: Link, steps: Steps) -> None:
    for name, number in steps:
        if name in _PLAIN:
            for _ in range(number):
                getattr(link, name)()
        elif name == "exchange":
            link.exchange(number)
        elif name == "take":
            link.take(SYMBOLS[number % 2], number)
        elif name in ("drop", "repeat", "damage"):
            _harm(link.up if number % 2 else link.down, name, number // 2)
        elif name in ("fill_disk", "empty_disk"):
            link.disk.full = name == "fill_disk"
        elif name == "lose":
            link.lose(SYMBOLS[number % 2], number)
        elif name == "pass_time":
            link.pass_time(number)
        else:
            getattr(link, name)()


def _harm(line: list[bytes], name: str, at: int) -> None:
    if at >= len(line):
        return
    if name == "drop":
        del line[at]
    elif name == "repeat":
        line.insert(at, line[at])
    else:
        line[at] = line[at][:-1] + bytes([line[at][-1] ^ 0x10])


@given(st.lists(_STEP | st.tuples(st.just("start_client"), st.just(0)), min_size=20, max_size=60))
@settings(max_examples=examples(150))
def test_exactly_once_in_order(steps: Steps) -> None:
    """6.1 to 6.8, 7.1, 7.2, 7.5, 8.3, 8.8, 9.4: sides restarted, frames lost, damaged, repeated."""
    link = Link(SYMBOLS, TICKS)
    _run(link, steps)
    assert link.heal()
    for name in SYMBOLS:
        assert link.disk.volumes(name) == list(range(1, TICKS + 1))
        assert link.disk.lost(name) == set()
    link.pass_time(2 * SETTINGS.heartbeat_ms)
    assert link.heal() and link.promises[-1] == 1_000 + (TICKS - 1) // 3


@given(st.lists(_STEP | st.tuples(st.just("lose"), st.integers(1, 9)), min_size=20, max_size=60))
@settings(max_examples=examples(150))
def test_what_is_lost_is_named(steps: Steps) -> None:
    """7.3, 7.4: each number is either stored once or lies in a recorded gap."""
    link = Link(SYMBOLS, TICKS)
    _run(link, steps)
    assert link.heal()
    for name in SYMBOLS:
        stored = link.disk.volumes(name)
        assert stored == sorted(set(stored))
        assert set(stored) | link.disk.lost(name) == set(range(1, TICKS + 1))
        assert not set(stored) & link.disk.lost(name)


@given(st.lists(_STEP, min_size=20, max_size=60))
@settings(max_examples=examples(60))
def test_acknowledged_is_on_disk(steps: Steps) -> None:
    """6.5: a terminal never forgets what the disk does not hold."""
    link = Link(SYMBOLS, TICKS)
    for step in steps:
        _run(link, [step])
        for name in SYMBOLS:
            held = set(link.disk.durable(name))
            assert held >= set(range(1, link.client.ticks[name].base))


def test_the_line_alone_is_enough() -> None:
    link = Link(SYMBOLS, TICKS)
    assert link.heal()
    assert link.disk.volumes("A") == list(range(1, TICKS + 1))
