"""The rows that stored records lead to, found in the plainest way: a new run, group by group."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from cep.engine.change import changed, compiled_for
from cep.engine.lines import encode
from cep.engine.native import Compiled
from cep.live.config import Config
from cep.live.feed import MarketFeed
from cep.live.rules import events_of, signals_of
from cep.live.rules_log import Since, noted
from mt5bridge.spool import Group, RecordKind
from tests.world.compiled import compiled_rules


def rows_again(
    config: Config, first: str, texts: Sequence[str], groups: Sequence[Group], lived: list[bytes]
) -> list[bytes]:
    """Lines of the journal, begun with the rules `first`.

    When other rules (of `texts`) took over, only the journal that was lived knows.
    """
    of_digest = {hashlib.sha256(text.encode()).hexdigest(): text for text in texts}
    changes = [note for line in lived if "note" in (note := msgspec.json.decode(line))]
    made: list[bytes] = []
    run = Compiled(
        compiled_rules(first), outputs=_outputs(config, first), jit=False, machine="always"
    ).start()
    for group in (*groups, None):  # rules may also take over behind the last record
        while changes and (group is None or changes[0]["after_ingest"] < group.ingest):
            change = changes.pop(0)
            text = of_digest[change["rules_sha256"]]
            outputs = _outputs(config, text)
            run, report = changed(run, compiled_for(run, compiled_rules(text), outputs=outputs))
            made.append(encode(noted(report, Since(change["after_ingest"], text))))
        if group is not None and group.kind is not RecordKind.GAP:
            for rows, _ in MarketFeed(run).feed([group]):
                shown = config.rules.streams
                made += [
                    encode(row) for row in rows.dicts() if shown is None or row["stream"] in shown
                ]
    return made


def _outputs(config: Config, text: str) -> list[str] | None:
    streams, plan = config.rules.streams, compiled_rules(text)
    if streams is None:
        return None
    return [*streams, *(signals_of(plan) | events_of(plan)) - {*streams}]
