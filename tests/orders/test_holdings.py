"""Which strategy holds what of a position, and what other hands have made of it."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.orders.holdings import Claim, Holdings, holdings_of
from mt5bridge.orders.records import Dealt, Record, Sent, Told, requested
from mt5bridge.wire import OrderKind, SignalStatus
from tests.orders.desk import NOON_MSC, order, result, signal

A, B, HAND = 77, 78, 0
NAMES = {A: "main", B: "quick"}
ACCOUNT = "1@Demo"


def deal(
    ticket: int,
    lots: float,
    magic: int,
    position: int = 1,
    *,
    is_exit: bool = False,
    by_broker: bool = False,
    revision: int = 1,
) -> Dealt:
    return Dealt(
        owner=ACCOUNT, ticket=ticket, revision=revision, time_msc=NOON_MSC + ticket,
        position=position, symbol="EURUSD", lots=lots, profit=0.0, is_exit=is_exit, magic=magic,
        by_broker=by_broker,
    )  # fmt: skip


def found(deals: Sequence[Record]) -> Holdings:
    return holdings_of(deals, NAMES)


def shares(holdings: Holdings) -> dict[tuple[str, int], tuple[float, float]]:
    """By strategy and position: what it means to have, and has."""
    claims = holdings.claims()
    return {(one.strategy, one.position): (one.meant, one.held) for one in claims}


def test_a_position_is_its_strategys() -> None:
    assert shares(found([deal(1, 0.1, A)])) == {("main", 1): (0.1, 0.1)}
    assert shares(found([deal(1, 0.1, A), deal(2, -0.1, A, is_exit=True)])) == {}
    assert shares(found([deal(1, 0.3, HAND)])) == {("", 1): (0.3, 0.3)}


def test_fills_in_parts_are_added_up() -> None:
    parts = [deal(n, 0.1, A) for n in range(1, 4)]
    assert shares(found(parts)) == {("main", 1): (0.3, 0.3)}


def test_another_hand_closes_a_part_and_the_rest() -> None:
    """Told once for each deal; what is left is what the strategy has."""
    holdings = Holdings(NAMES)
    holdings.dealt(deal(1, 0.3, A))
    assert holdings.changed == []
    holdings.dealt(deal(2, -0.1, HAND, is_exit=True))
    holdings.dealt(deal(3, -0.2, HAND, is_exit=True))
    told = [(one.strategy, one.meant, one.held, one.difference) for one in holdings.changed]
    assert told == [("main", 0.3, 0.2, -0.1), ("main", 0.3, 0.0, -0.3)]
    (claim,) = holdings.claims()
    assert claim.changed_msc == NOON_MSC + 3
    holdings.dealt(deal(4, -0.5, A, position=4))  # it begins anew: nothing differs any more
    assert shares(holdings) == {("main", 4): (-0.5, -0.5)}
    assert len(holdings.changed) == 2


def test_strategies_share_a_netting_position() -> None:
    """Also opposite ones: that is no other hand, and nobody has lost anything."""
    deals = [deal(1, 0.3, A), deal(2, -0.1, B, is_exit=True)]
    assert shares(found(deals)) == {("main", 1): (0.3, 0.3), ("quick", 1): (-0.1, -0.1)}
    flat = [*deals, deal(3, -0.2, B, is_exit=True)]
    assert shares(found(flat)) == {("main", 1): (0.3, 0.3), ("quick", 1): (-0.3, -0.3)}
    by_hand = [*deals, deal(3, -0.2, HAND, is_exit=True)]  # all that the account has
    assert shares(found(by_hand)) == {("main", 1): (0.3, 0.1), ("quick", 1): (-0.1, -0.1)}


def test_a_hand_that_turns_a_position_round_has_the_rest() -> None:
    turned = [deal(1, 0.1, A), deal(2, -0.3, HAND)]
    assert shares(found(turned)) == {("main", 1): (0.1, 0.0), ("", 1): (-0.2, -0.2)}


def test_stops_and_targets_are_what_the_strategy_has_asked_for() -> None:
    closed = [deal(1, 0.1, A), deal(2, -0.1, HAND, is_exit=True, by_broker=True)]
    assert shares(found(closed)) == {}
    assert found(closed).changed == []


def test_what_was_open_before_the_first_deal_is_unknown() -> None:
    assert shares(found([deal(2, -0.1, HAND, is_exit=True)])) == {}


def asked(request_id: int, ticket: int, *, closes: bool = False) -> list[Record]:
    request = (
        order(request_id, kind=OrderKind.CLOSE, ticket=1, magic=B)
        if closes
        else signal(request_id, magic=B, name="Fade")
    )
    filled = result(request_id, SignalStatus.EXECUTED, lots=0.1, deal=ticket)
    return [
        requested(request, NOON_MSC),
        Sent(request_id, NOON_MSC, ["demo"], accounts=[ACCOUNT]),
        Told(NOON_MSC + 5, "demo", filled, ACCOUNT),
    ]


def test_a_deal_is_known_by_its_report_whatever_its_magic_is() -> None:
    """Whichever of both comes first; a broker may have changed the magic number."""
    for records in ([*asked(9, 1), deal(1, -0.1, HAND)], [deal(1, -0.1, HAND), *asked(9, 1)]):
        (claim,) = found(records).claims()
        assert (claim.strategy, claim.held, claim.requests) == ("quick", -0.1, ("Fade",))


def test_a_terminal_may_carry_ids_in_magic_numbers() -> None:
    identifier = (1 << 63) + 5
    records = [*asked(identifier, 99)[:2], deal(1, -0.1, identifier - (1 << 64))]
    (claim,) = found(records).claims()
    assert (claim.strategy, claim.magic) == ("quick", B)


def test_a_strategy_that_closes_anothers_position_is_another_hand() -> None:
    records = [deal(1, 0.1, A), *asked(9, 2, closes=True), deal(2, -0.1, B, is_exit=True)]
    assert shares(found(records)) == {("main", 1): (0.1, 0.0)}


def test_a_fill_waits_for_its_deal() -> None:
    (one,) = found(asked(9, 7)).awaited()
    assert (one.deal, one.name, one.lots, one.told_msc) == (7, "Fade", 0.1, NOON_MSC + 5)
    assert list(found([*asked(9, 7), deal(7, 0.1, B)]).awaited()) == []


def test_a_revision_replaces_a_deal() -> None:
    deals = [deal(1, 0.1, A), deal(1, 0.2, A, revision=2), deal(1, 0.3, A, revision=1)]
    assert shares(found(deals)) == {("main", 1): (0.2, 0.2)}


steps = st.lists(
    st.tuples(
        st.sampled_from([A, B, HAND]), st.sampled_from([-0.3, -0.1, 0.1, 0.2]), st.booleans()
    ),
    max_size=12,
)


@given(steps)
def test_shares_are_what_the_account_has(done: list[tuple[int, float, bool]]) -> None:
    """Whoever trades: their sum is the account's, and no strategy has more than it has asked for.

    What is its own deals' sum differs from what it has only by what other hands have done.
    """
    deals = [deal(n, lots, magic) for n, (magic, lots, _) in enumerate(done, 1)]
    holdings = Holdings(NAMES)
    for one in deals:
        holdings.dealt(one)
    claims: list[Claim] = list(holdings.claims())
    total = sum(lots for _, lots, _ in done)
    assert round(sum(claim.held for claim in claims) - total, 6) == 0
    for claim in claims:
        if claim.magic is None or not claim.difference:
            continue
        assert claim.changed_msc and abs(claim.held) <= abs(claim.meant) + 1e-9
    if not any(magic == HAND for magic, _, _ in done):
        for magic in (A, B):
            own = round(sum(lots for who, lots, _ in done if who == magic), 8)
            assert [c.held for c in claims if c.magic == magic] == ([own] if own else [])
        assert holdings.changed == []


numbered = st.lists(
    st.tuples(
        st.sampled_from([A, B, HAND]), st.sampled_from([-0.3, -0.1, 0.1, 0.2]), st.booleans(),
        st.integers(1, 3), st.booleans(), st.integers(0, 4),
    ),
    max_size=14,
)  # fmt: skip


@given(numbered, st.integers(0, 30))
def test_deals_one_by_one_are_all_of_them_at_once(
    done: list[tuple[int, float, bool, int, bool, int]], cut: int
) -> None:
    """The quick way against the plain one, with revisions, several positions and stops."""
    deals = [
        deal(n, lots, magic, position, is_exit=is_exit, by_broker=by_broker)
        for n, (magic, lots, is_exit, position, by_broker, _) in enumerate(done, 1)
    ]
    revised = [
        deal(n, 0.2, A, one.position, revision=2)
        for n, (one, (*_, number)) in enumerate(zip(deals, done, strict=True), 1)
        if number == 0
    ]
    stream = [*deals[:cut], *revised[: max(0, cut - 5)], *deals[cut:], *revised]
    holdings = Holdings(NAMES)
    newest: dict[int, Dealt] = {}
    for one in stream:
        known = newest.get(one.ticket)
        if known is None or known.revision < one.revision:
            newest[one.ticket] = one
            holdings.dealt(one)
    plain = Holdings(NAMES)
    for place, own in holdings._deals.items():
        plain._deals[place].update(own)
        plain._shares[place] = plain._shared(place)
    plain._newest = holdings._newest
    assert list(map(repr, _kept(holdings))) == list(map(repr, _kept(plain)))


def _kept(holdings: Holdings) -> list[Claim]:
    return sorted(
        (one for one in holdings.claims() if one.held), key=lambda one: (one.position, one.strategy)
    )


def test_what_is_over_is_not_looked_at() -> None:
    """A status looks at what is open, however much was dealt."""
    holdings = Holdings(NAMES)
    for n in range(1, 101, 2):
        holdings.dealt(deal(n, 0.1, A, n))
        holdings.dealt(deal(n + 1, -0.1, A, n, is_exit=True))
    assert holdings._shares == {} and list(holdings.claims()) == []
