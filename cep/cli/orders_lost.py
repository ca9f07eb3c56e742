"""What the order journal still has of a request of which it has lost what was asked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator

from cep.cli.text import aligned
from cep.report.tables import time_text
from mt5bridge.orders.records import Dealt, Record, Refused, Sent, Told
from mt5bridge.orders.unremembered import witnessed

LOST = (
    "what was asked is not in the order journal, by damage or a loss of power; it is not sent again"
)


def remains(records: Iterable[Record], ids: Collection[int]) -> list[tuple[int, int, str]]:
    """Id, UTC ms and words of each record that tells of one of these requests."""
    return [
        (identifier, time_msc, text)
        for record in records
        for identifier, time_msc, text in _told(record)
        if identifier in ids
    ]


def _told(record: Record) -> Iterator[tuple[int, int, str]]:
    match record:
        case Refused():
            yield record.id, record.time_msc, f"refused: {record.text}"
        case Sent():
            what = "asked what became of it" if record.is_question else "sent to"
            yield record.id, record.time_msc, f"{what}: {', '.join(record.terminals)}"
        case Told():
            text = f": {record.result.text}" if record.result.text else ""
            yield record.result.id, record.time_msc, record.said + text
        case Dealt() if record.unremembered:
            yield record.unremembered, record.time_msc, witnessed(record)


def remains_text(found: list[tuple[int, int, str]]) -> str:
    """For people."""
    rows = [[f"{time_text(time_msc)} UTC", text] for _, time_msc, text in found]
    head = [["id", f"{found[0][0]:016x}"], ["state", f"lost: {LOST}"]]
    return "\n".join([*aligned(head), "", *aligned(rows)])


def remains_json(found: list[tuple[int, int, str]]) -> str:
    """For programs."""
    told = [{"time_msc": time_msc, "text": text} for _, time_msc, text in found]
    whole = {"id": f"{found[0][0]:016x}", "state": "lost", "text": LOST, "known": told}
    return json.dumps(whole, indent=1)
