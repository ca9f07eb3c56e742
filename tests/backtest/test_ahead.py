"""Other threads work ahead and beside: what comes, in which order and which error stays."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, get_ident

import pytest

from cep.backtest.ahead import ahead, each
from tests.waiting import LONG_S


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_all_come_in_their_order(count: int) -> None:
    assert list(ahead(iter(range(count)))) == list(range(count))


def test_the_next_is_made_meanwhile() -> None:
    """And no more than that one: what is ahead is in memory. Else the barrier would not open."""
    made, both = list[int](), Barrier(2, timeout=LONG_S)

    def source() -> Iterator[int]:
        for number in range(3):
            made.append(number)
            if number:
                both.wait()
            yield number

    found = ahead(source())
    for number in range(2):
        assert next(found) == number
        assert len(made) <= number + 2
        both.wait()
    assert list(found) == [2]


def test_an_error_comes_where_it_would() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("no second")

    found = ahead(source())
    assert next(found) == 1
    with pytest.raises(ValueError, match="no second"):
        next(found)


def test_who_stops_early_leaves_no_thread_at_work() -> None:
    ended = list[str]()

    def source() -> Iterator[int]:
        yield 1
        ended.append("made")
        yield 2

    found = ahead(source())
    next(found)
    found.close()  # type: ignore[attr-defined]
    assert ended == ["made"]


def test_all_are_worked_at_beside_each_other() -> None:
    all_three, threads = Barrier(3, timeout=LONG_S), dict[int, int]()

    def work(number: int) -> None:
        threads[number] = get_ident()
        all_three.wait()

    with ThreadPoolExecutor(2) as pool:
        each(pool, work, [1, 2, 3])
        each(pool, work, [])
    assert len(set(threads.values())) == 3 and threads[3] == get_ident()


@pytest.mark.parametrize("bad", [1, 2])
def test_an_error_is_raised_when_all_have_ended(bad: int) -> None:
    done = list[int]()

    def work(number: int) -> None:
        done.append(number)
        if number == bad:
            raise ValueError(f"not {number}")

    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match=f"not {bad}"):
        each(pool, work, [1, 2])
    assert sorted(done) == [1, 2]


def test_without_a_pool_all_are_worked_at_here() -> None:
    done = list[tuple[int, int]]()

    def work(number: int) -> None:
        done.append((number, get_ident()))
        if number == 2:
            raise ValueError("not 2")

    each(None, work, [1, 0])
    with pytest.raises(ValueError, match="not 2"):
        each(None, work, [2, 3])
    assert done == [(number, get_ident()) for number in (1, 0, 2)]
