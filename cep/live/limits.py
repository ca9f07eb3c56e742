"""The limits of a daemon: which counter tells that one was reached, and which setting raises it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mt5bridge.server.status import LimitStatus


class Limit(NamedTuple):
    """What happens at a limit is counted under `counter`; `setting` is its key in the settings."""

    counter: str
    setting: str
    effect: str


LIMITS = (
    Limit("connections_refused", "[server] connections_max", "connections were ended"),
    Limit("connections_cut", "[server] message_max_mib", "connections were ended"),
    Limit("refused_limit", "[server] terminals_max", "terminals were not let in"),
    Limit("identities_refused", "[server] identities_max", "new identities were not let in"),
    Limit("symbols_refused", "[server] symbols_max", "symbols of a terminal were refused"),
    Limit("streams_refused", "[server] streams_max", "symbols of terminals were refused"),
    Limit("signals_refused", "[server] requests_max", "signals or orders were not sent"),
    Limit("refused", "[spool] max_mib, waiting_max_mib", "records had to wait in terminals"),
    Limit(
        "specifications_reached",
        "[spool] specifications_max_mib",
        "what terminals told of symbols was not kept",
    ),
    Limit("rules_refused", "[rules] file_max_kib", "a changed rule file was not read"),
    Limit("events_left_out", "[server] events_max", "terminals did not get all complex events"),
    Limit("bindings_forgotten", "[server] bindings_max", "complex events came without attributes"),
    Limit("journal_reached", "[orders] journal_max_mib", "openings and deals were refused"),
    Limit("results_refused", "[orders] results_max", "reports of a terminal were left out"),
    Limit("texts_reached", "[rules] texts_max", "deals had to wait in terminals"),
    Limit("bad_files_removed", "[state] bad_files", "damaged files, the oldest, were removed"),
    Limit("alerts_held_back", "[alerts] per_hour", "alerts were not sent"),
    Limit("memory_reached", "[server] memory_max_mib", "records had to wait in terminals"),
)


def reached(counters: Mapping[str, int], reasons: Mapping[str, str]) -> Iterator[LimitStatus]:
    """The limits that were reached since the start, with the newest reason."""
    for limit in LIMITS:
        if times := counters.get(limit.counter, 0):
            reason = reasons.get(limit.counter, "")
            yield LimitStatus(limit.counter, times, limit.setting, limit.effect, reason)
