"""A daemon listens from the first moment: what comes is stored while its rules warm up."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner

from cep.cli import main
from cep.live.acting import Acting
from cep.live.coming import Coming, Kept
from cep.live.config import MAIN
from cep.live.rules_on_engine import RulesOnEngine
from mt5bridge.simulator import Account
from mt5bridge.spool import read
from tests.live.service import Service, address, journal, play, status_of, terminal, wait_until
from tests.live.service import walks as walks_of
from tests.live.test_rule_files import MAGIC, SLOW, alone, meant, quick_rows, run, settings_of
from tests.spool.groups import START_MSC, clock_group, opened, tick_group
from tests.waiting import LONG_S

TICKS = walks_of("A", 1_500)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Rules are not warm before it is set."""
    found, catch_up = Event(), RulesOnEngine.catch_up

    def behind_it(rules: RulesOnEngine, stack: ExitStack) -> None:
        assert found.wait(LONG_S)
        catch_up(rules, stack)

    monkeypatch.setattr(RulesOnEngine, "catch_up", behind_it)
    yield found
    found.set()


def stored(settings: Path) -> int:
    return sum(len(group.records) for group in read(settings.parent / "spool"))


def test_ticks_are_stored_and_acknowledged_before_the_rules_are_warm(
    tmp_path: Path, gate: Event
) -> None:
    """And then the rules read them in order, and act on them as if they had come then."""
    settings = settings_of(tmp_path / "one", quick="")
    account = Account()
    found = terminal({"A": TICKS["A"][:700]}, account=account)
    with Service(settings, waits=False) as service:
        play(found, address(settings))
        wait_until(lambda: bool((told := status_of(settings)) and told.rules))
        (told,) = service.daemon.files.status()
        assert stored(settings) == 700 and not told.runs and told.loaded < 1.0 and not told.why
        assert not found.signals and not journal_is_there(settings)
        assert "main" in run(settings, "rules", "ls").output
        assert "rules main warm up: 0%" in run(settings, "status").output
        gate.set()
        more = terminal(TICKS, instance=2, account=account)
        play(more, address(settings), until=lambda: has_come(service) and service.is_settled())
    expected_rows, expected = alone(tmp_path / "alone", SLOW, TICKS)
    assert journal(settings) == expected_rows
    assert meant(more.signals) == meant(expected) and expected
    assert len(account.executed) == len(expected)


def journal_is_there(settings: Path) -> bool:
    return (settings.parent / "state" / "events.jsonl").exists()


def has_come(service: Service) -> bool:
    """Whether all rules run, and have seen all."""
    return all(one.runs for one in service.daemon.files.status())


@pytest.mark.parametrize("is_known", [False, True], ids=["new rules", "known rules"])
def test_a_kill_while_they_warm_up_loses_and_doubles_nothing(
    tmp_path: Path, gate: Event, is_known: bool
) -> None:
    settings = settings_of(tmp_path / "killed", quick="")
    account = Account()
    if is_known:
        gate.set()
        with Service(settings) as service:
            play(terminal({"A": TICKS["A"][:300]}, account=account), address(settings),
                 until=service.is_settled)  # fmt: skip
        gate.clear()
    with Service(settings, waits=False):
        play(terminal({"A": TICKS["A"][:700]}, instance=2, account=account), address(settings))
        shutil.copytree(tmp_path / "killed", tmp_path / "left")
        before = set(account.executed)
        gate.set()
    left = settings_of(tmp_path / "left", quick="")
    with Service(left) as service:
        found = terminal(TICKS, instance=3, account=account)
        play(found, address(left), until=service.is_settled)
    expected_rows, expected = alone(tmp_path / "alone", SLOW, TICKS)
    assert journal(left) == expected_rows
    assert len(account.executed) == len(expected) > len(before)


def fails_at_first(rules: RulesOnEngine, _stack: ExitStack) -> None:
    raise ArithmeticError(f"{rules.name} cannot be warmed")


def test_a_main_file_that_raises_while_it_warms_up_leaves_the_rest_going(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is loaded; where there is no other one, the daemon ends with its error."""
    settings = settings_of(tmp_path / "both")
    right: Callable[[RulesOnEngine, ExitStack], None] = RulesOnEngine.catch_up

    def main_fails(rules: RulesOnEngine, stack: ExitStack) -> None:
        (fails_at_first if rules.name == MAIN else right)(rules, stack)

    monkeypatch.setattr(RulesOnEngine, "catch_up", main_fails)
    with Service(settings) as service:
        found = terminal({"A": TICKS["A"][:700]})
        play(found, address(settings), until=service.is_settled)
        assert {one.magic for one in found.signals} == {MAGIC}
        why = "main is stopped: ArithmeticError: main cannot be"
        wait_until(lambda: why in run(settings, "rules", "ls").output)
        monkeypatch.setattr(RulesOnEngine, "catch_up", right)
        assert run(settings, "rules", "load", "main", "--wait", str(LONG_S)).output == "loaded\n"
        found = terminal(TICKS, instance=2)
        play(found, address(settings), until=service.is_settled)
        assert {one.magic for one in found.signals} == {77, MAGIC}
    for rules, rows in ((SLOW, journal(settings)),):
        assert rows == alone(tmp_path / "alone", rules, TICKS)[0]
    assert quick_rows(settings)
    single = settings_of(tmp_path / "single", quick="")
    monkeypatch.setattr(RulesOnEngine, "catch_up", fails_at_first)
    failing = Service(single)
    with pytest.raises(AssertionError), failing:
        pass
    assert isinstance(failing.failure, ArithmeticError)


def test_the_main_file_is_stopped_and_loaded_like_the_others(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "one", quick="")
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        assert run(settings, "rules", "stop", "main", "--wait", str(LONG_S)).output == "stopped\n"
        found = terminal({"A": TICKS["A"][:500]})
        play(found, address(settings), until=service.is_settled)
        assert not found.signals and stored(settings) == 500
    with Service(settings) as service:
        wait_until(lambda: status_of(settings) is not None)
        assert "main is stopped: by hand" in run(settings, "rules", "ls").output
        assert run(settings, "rules", "load", "main", "--wait", str(LONG_S)).output == "loaded\n"
        found = terminal(TICKS, instance=2)
        play(found, address(settings), until=service.is_settled)
    expected_rows, expected = alone(tmp_path / "alone", SLOW, TICKS)
    assert journal(settings) == expected_rows
    assert 0 < len(found.signals) < len(expected), "nothing is sent for what it has missed"


def test_a_mistake_in_the_main_file_lets_the_daemon_not_start(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, rules=SLOW.replace("avg(mid)", "avg(middle)"))
    found = CliRunner().invoke(main, ["daemon", "--config", str(settings)])
    assert found.exit_code == 2 and "middle" in found.stderr


def test_what_is_kept_is_bounded_and_the_rest_is_read_from_disk(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    kept = Kept(10)
    for n in range(1, 31):
        group = tick_group(spool, "A", n, [START_MSC + n])
        spool.append(group)
        kept.show(group)
    assert [one.ingest for one in kept.groups] == [*range(21, 31)]
    assert (kept.left_out, kept.heard) == (20, 30)
    spool.append(clock_group(spool, START_MSC + 31))
    kept.take([clock_group(spool, START_MSC + 31)])
    assert kept.heard == 30, "time that passes is nothing to hear"
    assert not Coming(spool, lambda: pytest.fail("too early")).is_near
    spool.close()


def test_who_acts_from_where_on_survives_interrupted_starts(tmp_path: Path) -> None:
    path = tmp_path / "state" / "x.acting"
    assert Acting(path).after == 0
    Acting(path).expect(0, "rules")
    Acting(path).expect(700, "rules")
    assert Acting(path).after == 0, "the same rules, interrupted before they had begun"
    Acting(path).expect(800, "others")
    assert Acting(path).after == 800 and Acting(path).expects("others")
    Acting(path).begin(Acting(path).after)
    assert Acting(path).after == 800 and not Acting(path).expects("others")
    path.write_bytes(b"none")
    assert Acting(path).after == 0 and not path.exists()
