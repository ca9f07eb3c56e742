"""What a run was made of and what it came to, as JSON: `manifest.json` and `metrics.json`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cep.account.market import Market
from cep.account.specifications import encode, in_order
from cep.backtest.code import code_hash
from cep.backtest.selection import Selection
from cep.backtest.work import Finished
from cep.functions.files import loaded_files

MANIFEST, METRICS = "manifest.json", "metrics.json"
FORMAT, VERSION = "mt5cep-run", 1


def manifest(finished: Finished, files: Mapping[str, Path]) -> dict[str, Any]:
    """Hashes of all that a run depends on, its options, and the files that it has written.

    There is no time of day in it: the same run gives the same bytes.
    """
    asked, outcome = finished.asked, finished.outcome
    market, selection = asked.market, asked.selection
    first, last = selection.interval_msc
    functions = {Path(one.path).name: _hash(one.text.encode()) for one in loaded_files()}
    return {
        "format": FORMAT,
        "version": VERSION,
        "rules": {"name": asked.plan.name, "sha256": _hash(asked.plan.text.encode())},
        "functions": functions,
        "code": {"version": version("mt5cep"), "hash": code_hash()},
        "data": {
            "sha256": _data_hash(selection),
            "files": len(selection.files),
            "records": finished.results.records,
            "symbols": selection.symbols,
            "from_msc": first,
            "to_msc": last,
        },
        "account": asdict(market.terms),
        "limits": None if market.limits is None else asdict(market.limits),
        "specifications": {
            name: _specification(market, name, size, outcome.why_points[name])
            for name, size in outcome.points.items()
        },
        "archive_specifications": _archived(finished) if market.tellers else None,
        "options": dict(asked.said),
        "notes": finished.notes,
        "files": {name: _hash(path.read_bytes()) for name, path in sorted(files.items())},
    }


def _archived(finished: Finished) -> dict[str, Any]:
    """What the archive was told, as a hash, and who told of which symbols."""
    lines = map(encode, in_order(finished.asked.archive.manifest.specifications))
    by = dict(sorted(finished.asked.market.tellers.items()))
    return {"sha256": _hash(b"".join(lines)), "by": by}


def _specification(market: Market, name: str, point: float, known: str) -> dict[str, Any]:
    """What trading a symbol depended on, at first and, if told, later."""
    first = market.specification(name, point)
    later = [
        {"since_msc": since_msc, **asdict(then)} for since_msc, then in market.later(name, first)
    ]
    return {**asdict(first), "known": known, "later": later}


def metrics(finished: Finished) -> dict[str, Any]:
    """Results by signal and of all, the account's money and equity, and what went nowhere."""
    outcome, results, equity = finished.outcome, finished.results, finished.outcome.equity
    return {
        "results": {name: asdict(one) for name, one in finished.metrics.items()},
        "account": asdict(outcome.money),
        "equity": {
            name: getattr(equity, name)
            for name in ("start", "drawdown", "drawdown_share", "peak_msc", "trough_msc")
        },
        "daily": asdict(finished.daily),
        "doubled_costs": None if finished.doubled is None else asdict(finished.doubled),
        "records": results.records,
        "rows": dict(sorted(results.counts.items())),
        "signals": len(results.signals),
        "not_filled": {why: n for why, n in sorted(outcome.refused.items()) if n},
        "dropped": [
            {"what": part[0], "name": part[1], "why": reason.value, "count": n}
            for part, reason, n in results.dropped
        ],
    }


def as_json(value: Any) -> bytes:
    """Readable; the same for the same values. NaN and infinities, which JSON has not, are null."""
    plain = msgspec.to_builtins(value, enc_hook=_plain)
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value)} in a manifest")


def _data_hash(selection: Selection) -> str:
    """Of the checksums of all files that are read, as the archive's manifest has them."""
    files = sorted((*selection.files, *selection.clock), key=lambda file: file.path)
    lines = [f"{file.path} {file.rows} {file.checksum}\n" for file in files]
    return _hash("".join(lines).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
