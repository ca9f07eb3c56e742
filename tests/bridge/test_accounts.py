"""Who trades on another account than before waits until somebody has confirmed that."""

from __future__ import annotations

from dataclasses import replace

from mt5bridge.grant import Grant, Role
from mt5bridge.server import Settings, Trader
from mt5bridge.simulator import simulated_hello
from mt5bridge.wire import (
    Ask,
    Asked,
    Bye,
    Error,
    ErrorCode,
    Hello,
    Side,
    Signal,
    SignalStatus,
    Symbols,
    TradeMode,
    Welcome,
    encode,
)
from tests.bridge.dialog import SETTINGS, Dialog, symbol
from tests.wire.samples import FRAMES

_SIGNAL, RESULT = FRAMES["signal"][1], FRAMES["signal_result"][1]
assert isinstance(_SIGNAL, Signal)
BUY = replace(_SIGNAL, id=7, side=Side.BUY, symbol="EURUSD", lots=0.1)
ONE, TWO = "1@Server", "2@Server"


def hello(account: int, trades: TradeMode = TradeMode.LIVE, instance: int = 1) -> Hello:
    usual = simulated_hello("demo", instance)
    return replace(usual, account=account, server="Server", trades=trades)


def refused(dialog: Dialog, found: Hello) -> str:
    (error,) = dialog.say(found)
    assert isinstance(error, Error) and error.code is ErrorCode.NOT_ALLOWED
    return error.text


def trading(account: int = 1) -> Dialog:
    """Somebody who has traded on an account, and is away."""
    dialog = Dialog()
    assert isinstance(dialog.say(hello(account))[0], Welcome)
    dialog.say(Symbols((symbol("EURUSD", 1),)))
    dialog.say(Bye(""))
    return dialog


def test_another_account_does_not_trade_until_it_is_confirmed() -> None:
    """12.7: both sides are told which two accounts they are, and what to do."""
    dialog = trading()
    text = refused(dialog, hello(2, instance=2))
    for part in (ONE, TWO, f"`mt5cep terminals confirm demo {TWO}`"):
        assert part in text and part in " ".join(dialog.status().complaints)
    assert dialog.status().unconfirmed == {"demo": TWO} and not dialog.terminals.connected()
    assert dialog.terminals.send("demo", BUY) == "" and dialog.due() == []
    assert dialog.terminals.confirm("demo", TWO) == ""
    assert dialog.traders[-1] == Trader("demo", TWO, TradeMode.LIVE, ("EURUSD",))
    assert dialog.status().unconfirmed == {}
    assert isinstance(dialog.say(hello(2, instance=3))[0], Welcome)
    assert dialog.due() == [], "it was meant for the one before"
    dialog.say(Bye(""))
    assert TWO in refused(dialog, hello(1)), "now that is another one"


def test_the_account_before_is_asked_what_became_of_its_own_when_it_is_back() -> None:
    """12.7: the other one would say `unknown` of what it has executed."""
    dialog = trading()
    assert dialog.terminals.send("demo", BUY) == ""
    unknown = replace(RESULT, id=BUY.id, status=SignalStatus.UNKNOWN)
    for account, due in ((2, []), (1, [Ask((Asked(BUY.id),))])):
        refused(dialog, hello(account, instance=2))
        assert dialog.terminals.confirm("demo", f"{account}@Server") == ""
        dialog.say(hello(account, instance=3))
        assert dialog.due() == due
        dialog.say(unknown)
        assert dialog.outcomes[-1].was_asked
        assert (BUY.id in dialog.terminals.sessions["demo"].requests) is (account == 2)
        dialog.say(Bye(""))


def test_the_account_before_goes_on_without_a_word() -> None:
    dialog = trading()
    refused(dialog, hello(2, instance=2))
    assert dialog.terminals.send("demo", BUY) == ""
    assert isinstance(dialog.say(hello(1))[0], Welcome)
    assert dialog.due() == [BUY] and dialog.status().unconfirmed == {}


def test_a_restart_does_not_forget_the_account() -> None:
    again = Dialog(SETTINGS, traders=trading().traders[-1:])
    assert ONE in refused(again, hello(2))
    assert isinstance(again.say(hello(1))[0], Welcome)


def test_to_turn_trading_off_and_on_confirms_nothing() -> None:
    """12.7: who does not trade may come with any account, which is no confirmation."""
    for mode in (TradeMode.LIVE, TradeMode.DRY_RUN):
        dialog = trading()
        assert isinstance(dialog.say(hello(2, TradeMode.NONE))[0], Welcome)
        dialog.say(Symbols(()))
        dialog.say(Bye(""))
        assert dialog.traders[-1].owner == ONE
        assert ONE in refused(dialog, hello(2, mode))
        again = Dialog(SETTINGS, traders=dialog.traders[-1:])
        assert ONE in refused(again, hello(2, mode))


def test_the_same_login_at_another_server_is_another_account() -> None:
    assert "1@Else" in refused(trading(), replace(hello(1), server="Else"))


def test_a_connection_cannot_change_its_account() -> None:
    dialog = trading()
    dialog.say(hello(1))
    refused(dialog, hello(2))
    assert not dialog.terminals.connected(), "it has to come again"


def test_only_what_somebody_has_seen_can_be_confirmed() -> None:
    dialog = trading()
    assert "waits for no account" in dialog.terminals.confirm("demo", TWO)
    assert "nobody waits for no account" in dialog.terminals.confirm("nobody", TWO)
    refused(dialog, hello(2))
    assert f"waits for {TWO}, not for 3@Server" in dialog.terminals.confirm("demo", "3@Server")
    refused(dialog, hello(3))
    assert "not for 2@Server" in dialog.terminals.confirm("demo", TWO)
    dialog.say(hello(1))
    assert isinstance(dialog.say(hello(2, instance=9), b"other")[0], Error)
    assert "stop its program first" in dialog.terminals.confirm("demo", TWO)


def test_who_was_let_go_may_come_back_with_any_account() -> None:
    dialog = trading()
    assert dialog.terminals.forget("demo") == ""
    assert isinstance(dialog.say(hello(2))[0], Welcome)
    dialog.say(Symbols((symbol("EURUSD", 1),)))
    assert dialog.traders[-1].owner == TWO


def real(account: int, identity: str = "demo", trades: TradeMode = TradeMode.LIVE) -> Hello:
    return replace(hello(account, trades), demo=0, identity=identity)


def test_a_real_account_trades_when_somebody_has_said_so() -> None:
    """12.7: also that of a terminal whose identity is its account, which nobody has seen before."""
    for trades in (TradeMode.LIVE, TradeMode.DRY_RUN):
        dialog = Dialog()
        text = refused(dialog, real(2, "2@Server/trader", trades))
        assert "a real one" in text
        assert "`mt5cep terminals confirm 2@Server/trader 2@Server` at the daemon" in text
        assert dialog.status().unconfirmed == {"2@Server/trader": TWO}
        assert not dialog.terminals.traders("")
        assert isinstance(dialog.say(real(2, trades=TradeMode.NONE))[0], Welcome), "it may publish"
        assert dialog.terminals.confirm("2@Server/trader", TWO) == ""
        again = Dialog(traders=dialog.traders)
        for one in (dialog, again):
            assert isinstance(one.say(real(2, "2@Server/trader", trades), b"t")[0], Welcome)
            assert TWO in refused(one, real(3, "2@Server/trader", trades))


def test_what_was_confirmed_is_kept_while_it_makes_room() -> None:
    dialog = Dialog(replace(SETTINGS, terminals_max=1))
    refused(dialog, real(2, "new"))
    assert dialog.terminals.confirm("new", TWO) == ""
    assert isinstance(dialog.say(hello(1, TradeMode.NONE))[0], Welcome)
    dialog.say(Bye(""))
    assert isinstance(dialog.say(real(2, "new"), b"other")[0], Welcome)


def test_identities_without_end_are_not_remembered() -> None:
    dialog = Dialog(replace(SETTINGS, terminals_max=4))
    for number in range(20):
        refused(dialog, real(2, f"t{number}"))
    assert list(dialog.status().unconfirmed) == ["t16", "t17", "t18", "t19"]
    assert "waits for no account" in dialog.terminals.confirm("t0", TWO)
    assert not dialog.terminals.sessions


def test_a_credential_that_allows_real_accounts_says_so() -> None:
    settings = replace(SETTINGS, passwords={"u": "p"}, grants={"u": Grant(allow_real=True)})
    dialog = Dialog(settings)
    ((_, welcome),) = dialog.terminals.receive(b"r", [encode(real(2))], dialog.now, "u")
    assert isinstance(welcome, Welcome)


def test_a_credential_that_names_the_account_confirms_it() -> None:
    """What waited for the account before is not sent to this one either."""
    dialog = trading()
    assert dialog.terminals.send("demo", BUY) == ""
    named = Grant(account=2, server="Server")
    settings = replace(SETTINGS, passwords={"u": "p"}, grants={"u": named})
    dialog.terminals.change_credentials(settings)
    ((_, welcome),) = dialog.terminals.receive(b"r", [encode(hello(2))], dialog.now, "u")
    assert isinstance(welcome, Welcome)
    assert dialog.traders[-1].owner == TWO
    assert dialog.due() == []


def test_nobody_speaks_for_an_account_that_anothers_credential_names() -> None:
    """12.6: else whoever may publish could make up what an account has lost."""
    settings = Settings(
        passwords={"desk": "p", "other": "q", "own": "r"},
        grants={"desk": Grant(account=1, server="Server"), "other": Grant(roles=(Role.PUBLISH,))},
    )
    one = hello(1, TradeMode.NONE)
    assert settings.refuses_hello("desk", one) == ""
    for user in ("other", "own"):
        assert "account 1@Server is another credential's" in settings.refuses_hello(user, one)
        assert settings.refuses_hello(user, hello(2, TradeMode.NONE)) == ""


def test_why_a_request_is_not_sent_is_said() -> None:
    dialog = Dialog(replace(SETTINGS, signals_max=1))
    dialog.begin("EURUSD")
    assert dialog.terminals.send("demo", BUY) == ""
    assert dialog.terminals.send("demo", replace(BUY, id=8)) == "too many requests without a result"
    assert dialog.terminals.send("nobody", BUY) == "no such terminal is known"


def test_a_result_says_which_account() -> None:
    dialog = trading()
    dialog.say(hello(1))
    dialog.terminals.send("demo", BUY)
    dialog.say(replace(RESULT, id=7, status=SignalStatus.REJECTED))
    assert [outcome.owner for outcome in dialog.outcomes] == [ONE]


def test_an_older_connection_that_is_dead_is_found_out() -> None:
    """Else nobody could confirm the other account before the older connection timed out."""
    dialog = Dialog()
    dialog.say(hello(1), b"older")
    data = encode(hello(2, instance=2))
    routes = [route for route, _ in dialog.terminals.receive(b"newer", [data], dialog.now)]
    assert routes == [b"older", b"newer"]
    dialog.terminals.gone(b"older")
    assert dialog.terminals.confirm("demo", TWO) == ""
