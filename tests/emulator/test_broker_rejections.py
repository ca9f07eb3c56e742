"""Every return code of the emulated broker has its cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.broker_session import bids, needs_compiler, run

pytestmark = needs_compiler

SYMBOL = "symbol EURUSD digits=5 currency_profit=USD"


def test_requests_that_are_wrong_in_themselves(tmp_path: Path) -> None:
    cases = {
        "volume=0.005": 10014,
        "volume=0.015": 10014,
        "volume=501": 10014,
        "filling=2": 10030,  # no RETURN in market execution
        "filling=0": 10030,  # the symbol has IOC only
        "sl=1.2": 10016,
        "tp=1.0": 10016,
        "sl=1.09999": 10016,  # within the stops level
        "symbol=XYZ": 10013,
        "type=2": 10013,
        "action=99": 10013,
        "type=6": 10013,
        "volume=200": 10019,
        "action=5 type=2 price=1.11 filling=2": 10015,
        "action=5 type=2 price=1.095555555 filling=2": 10015,
        "action=5 type=2 price=1.09 filling=2 time=2 expiration=-5": 10022,
        "action=5 type=2 price=1.09 filling=3": 10030,
        "action=6 sl=1.0": 10036,
        "action=8 order=5": 10035,
        "volume=0.1": 10009,
    }
    session = run(
        tmp_path,
        [f"send {words}" for words in cases],
        f"{SYMBOL} filling_modes=2 stops_level=20",
    )
    assert session.retcodes == list(cases.values())
    assert [answer["error"] for answer in session.sent] == ["4756"] * 19 + ["0"]
    deal = session.sent[list(cases).index("type=6")]
    assert "a deal is a buy or a sell" in deal["text"]


@pytest.mark.parametrize(
    ("statement", "words", "retcode"),
    [
        (f"{SYMBOL} trade_mode=0", "type=0", 10017),
        (f"{SYMBOL} trade_mode=1", "type=1", 10042),
        (f"{SYMBOL} trade_mode=2", "type=0", 10043),
        (f"{SYMBOL} trade_mode=3", "type=0", 10044),
        (f"{SYMBOL} execution=1", "type=0 price=1.1", 10004),
        (f"{SYMBOL} volume_limit=0.05", "type=0", 10034),
        ("broker closed=EURUSD", "type=0", 10018),
        ("broker account_trade=0", "type=0", 10017),
        ("broker account_expert=0", "type=0", 10026),
        ("broker reject=10021", "type=0", 10021),
        ("broker liquidity=0.5", "type=0 filling=0", 10006),
        ("broker lost=1", "type=0", 10012),
    ],
)
def test_what_symbol_account_and_broker_refuse(
    tmp_path: Path, statement: str, words: str, retcode: int
) -> None:
    session = run(tmp_path, [f"send {words}"], statement)
    assert session.retcodes == [retcode]
    assert len(session.log.deals) == 1, "the deposit only"


def test_a_closed_market_takes_no_pending_order_back(tmp_path: Path) -> None:
    """Nor changes one; when it is open again, both go."""
    change, cancel = "send action=7 order=@0 price=1.08", "send action=8 order=@0"
    place = "send action=5 type=2 price=1.09 filling=2"
    session = run(
        tmp_path, [place, "above 1.15", change, cancel, "above 1.25", change, cancel],
        'at tick=50 broker="closed=EURUSD"', 'at tick=150 broker="open=EURUSD"',
        prices=bids(*[1.1] * 100, *[1.2] * 100, *[1.3] * 100),
    )  # fmt: skip
    assert session.retcodes == [10009, 10018, 10018, 10009, 10009]


def test_limits_and_settings_that_change_on_the_way(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send action=5 type=2 price=1.09 filling=2",
            "send action=5 type=2 price=1.09 filling=2",
            "send type=0",
            "send type=0",
            "send type=0",
        ],
        "broker limit_orders=1 requests_per_second=4 reject=10004:1:1",
    )
    # The rejection counts as none of the four.
    assert session.retcodes == [10004, 10009, 10009, 10009, 10009]
    limited = run(
        tmp_path / "limited",
        ["send action=5 type=2 price=1.09 filling=2"] * 2 + ["send type=0"] * 3,
        "broker limit_orders=1 requests_per_second=4",
    )
    assert limited.retcodes == [10009, 10033, 10009, 10009, 10024]


def test_without_permission_or_connection_nothing_leaves_the_terminal(tmp_path: Path) -> None:
    session = run(tmp_path, ["wait 20", "async type=0"], "at tick=1 trade_allowed=0")
    (answer,) = session.sent
    assert answer["retcode"] == "10027"
    assert answer["error"] == "4752"
    assert not session.log.requests


def test_a_terminal_that_is_cut_off_sends_nothing_and_is_told_nothing(tmp_path: Path) -> None:
    # The answer is due at about tick 30, while there is no connection.
    session = run(
        tmp_path,
        ["async type=0", "cut", "async type=0", "joined", "wait 5", "show"],
        "at tick=20 disconnect=25",
        "broker latency_ms=290",
        prices=bids(*[1.1] * 70),
        rate=100,
    )
    assert session.retcodes == [10008, 10031]
    assert len(session.facts("position")) == 1, "known when the connection is back"
    assert len(session.facts("deal")) == 2
    deals = [facts["deal"] for kind, facts in session.transactions() if kind == 6]
    assert session.facts("deal")[1]["ticket"] not in deals, "but without a transaction"
    assert len(session.log.requests) == 1


def test_a_timeout_may_hide_an_execution(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0 comment=hidden", "show"], "broker timeout=1")
    (answer,) = session.sent
    assert (answer["retcode"], answer["order"], answer["deal"]) == ("10012", "0", "0")
    (order,) = session.log.orders_of(comment="hidden")
    assert len(session.log.deals_of(order)) == 1


def test_sending_waits_for_the_server_and_sending_asynchronously_does_not(tmp_path: Path) -> None:
    session = run(
        tmp_path, ["send type=0", "async type=0", "async volume=7000", "wait 400"],
        "broker latency_ms=150",
    )  # fmt: skip
    waited, at_once, wrong = session.sent
    assert int(waited["ms"]) >= 150
    assert int(at_once["ms"]) < 150
    assert (at_once["retcode"], at_once["order"]) == ("10008", "0")
    assert wrong["retcode"] == "10008", "the server's refusal comes later"
    told = {facts["id"]: facts["retcode"] for kind, facts in session.transactions() if kind == 10}
    assert told == {waited["id"]: "10009", at_once["id"]: "10009", wrong["id"]: "10014"}


# At a bid of 1.1 and an ask of 1.1002; the freeze level is 50 points.
FROZEN = {
    "netting": [
        ("type=0 sl=1.0998", 10009),
        ("type=1 volume=0.05", 10029),
        ("type=1 volume=0.5", 10029),
        ("action=6 sl=1.09", 10029),
        ("type=0 sl=1.0995", 10009),  # adds to it, and moves its stop to just 50 points away
        ("type=1", 10029),
        ("type=0 sl=1.09949", 10009),
        ("type=1 volume=0.05", 10009),
        ("action=5 type=2 price=1.1 filling=2", 10009),
        ("action=7 order=@0 price=1.09", 10029),
        ("action=8 order=@0", 10029),
        ("action=5 type=5 price=1.0994 filling=2", 10009),
        ("action=7 order=@1 price=1.09", 10009),
        ("action=8 order=@1", 10009),
    ],
    "hedging": [
        ("type=0 sl=1.0998", 10009),
        ("type=1 position=@0", 10029),
        ("type=1 position=@0 volume=0.05", 10029),
        ("action=6 position=@0 tp=1.2", 10029),
        ("type=0 tp=1.1003", 10009),
        ("type=1 position=@1", 10029),
        ("type=1", 10009),
        ("action=10 position=@0 by=@2", 10029),
        ("action=10 position=@2 by=@0", 10029),
        ("type=0 position=@2", 10009),
    ],
}


@pytest.mark.parametrize("mode", list(FROZEN))
def test_nothing_is_done_within_the_freeze_level(tmp_path: Path, mode: str) -> None:
    """No change, no cancelling, no closing by an order; more of it may be opened."""
    steps = [(f"send {words}", retcode) for words, retcode in FROZEN[mode]]
    session = run(tmp_path, [step for step, _ in steps], f"{SYMBOL} freeze_level=50", mode=mode)
    assert session.retcodes == [retcode for _, retcode in steps]
