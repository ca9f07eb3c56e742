"""Entries of the order journal as rows, text and JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from cep.cli.text import aligned
from cep.report.tables import time_text
from mt5bridge.orders import Entry, described

TEXT_CHARACTERS = 60


def entry_row(entry: Entry) -> list[str]:
    """One line of `mt5cep orders ls`."""
    lots = sum(fate.lots for fate in entry.fates.values())
    text = entry.text if len(entry.text) <= TEXT_CHARACTERS else f"{entry.text[:57]}..."
    return [
        time_text(entry.asked.time_msc),
        f"{entry.request.id:016x}",
        entry.request.name,
        described(entry.request),
        entry.state,
        f"{lots:g}" if lots else "",
        text,
    ]


def entry_text(entry: Entry) -> str:
    """Everything about one request."""
    head = [
        ["id", f"{entry.request.id:016x}"],
        ["name", entry.request.name],
        ["what", described(entry.request)],
        ["asked", f"{time_text(entry.asked.time_msc)} UTC"],
        ["valid until", valid_until(entry)],
        ["state", entry.state],
        ["why", entry.text],
    ]
    lines = aligned([row for row in head if row[1]])
    rows = [
        [
            identity,
            fate.account,
            result.status.name.lower().replace("_", " "),
            f"{result.lots:g}" if result.lots else "",
            f"{result.price:.10g}" if result.price else "",
            str(result.deal or ""),
            str(result.order or ""),
            str(result.retcode),
            result.text,
        ]
        for identity, fate in entry.fates.items()
        for result in fate.results
    ]
    if rows:
        columns = [
            "terminal", "account", "status", "lots", "price", "deal", "order", "retcode", "text",
        ]  # fmt: skip
        lines += ["", *aligned([columns, *rows])]
    elif entry.fates:
        lines += ["", f"no answer yet of {', '.join(entry.fates)}"]
    return "\n".join(lines)


def valid_until(entry: Entry) -> str:
    until_msc = entry.request.valid_until_msc
    return f"{time_text(until_msc)} UTC" if until_msc else "for ever"


def entry_json(entry: Entry) -> dict[str, Any]:
    """One request for programs."""
    asked: dict[str, Any] = msgspec.to_builtins(entry.request)
    return {
        "id": f"{entry.request.id:016x}",
        "client_id": entry.asked.client_id,
        "state": entry.state,
        "is_open": entry.is_open,
        "text": entry.text,
        "asked_msc": entry.asked.time_msc,
        "what": described(entry.request),
        "request": asked,
        "terminals": {
            identity: {
                "account": fate.account,
                "state": fate.state,
                "lots": fate.lots,
                "results": [
                    {**msgspec.to_builtins(result), "status": result.status.name.lower()}
                    for result in fate.results
                ],
            }
            for identity, fate in entry.fates.items()
        },
    }
