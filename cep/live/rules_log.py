"""Which rules ran from which record on: what a restart needs to come to the same state."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec.structs import replace

from cep.engine.rows import Row
from cep.live.quarantine import Complain, set_file_aside, warn
from cep.plan.change import Report
from mt5bridge.spool.disk import confirm, make_directories, replace_file


class Since(msgspec.Struct, frozen=True):
    """Rules that run after record `ingest`, and the digests of the user's functions in them."""

    ingest: int
    text: str
    functions: tuple[str, ...] = ()


class RulesLog:
    """A small file of JSON lines, oldest first; it is replaced whole, so never half written."""

    def __init__(self, path: Path, complain: Complain = warn) -> None:
        """A file that is no such log is set aside: the rules of the rule file run then."""
        self.path = path
        data = path.read_bytes() if path.exists() else b""
        self.entries: list[Since] = []
        try:
            self.entries += [msgspec.json.decode(line, type=Since) for line in data.splitlines()]
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            set_file_aside(path, problem, complain)
        else:
            if data:
                confirm(path, data)

    def begin(self, since: Since) -> None:
        """These are the rules from here on, and there were none before."""
        self._write([since])

    def add(self, since: Since, oldest: int = 0) -> None:
        """The rules changed after record `since.ingest`; on disk when this returns.

        What a restart from record `oldest` does not need is forgotten.
        """
        before = [entry for entry in self.entries if entry.ingest <= oldest]
        self._write([*before[-1:], *self.after(oldest), since])

    def cut(self, last_ingest: int) -> None:
        """Changes after records that a crash has undone come after the last one there is."""
        if any(entry.ingest > last_ingest for entry in self.entries):
            self._write([replace(e, ingest=min(e.ingest, last_ingest)) for e in self.entries])

    def back_to(self, ingest: int) -> None:
        """Changes after that record are none: the rules of then run on from it."""
        if after := self.after(ingest):
            self._write(self.entries[: -len(after)])

    def at(self, ingest: int) -> Since | None:
        """The rules that record `ingest` leads to; None when it is before all that is known."""
        return next((e for e in reversed(self.entries) if e.ingest <= ingest), None)

    def after(self, ingest: int) -> list[Since]:
        """The changes after that record, in order."""
        return [entry for entry in self.entries if entry.ingest > ingest]

    @property
    def newest(self) -> Since | None:
        return self.entries[-1] if self.entries else None

    def _write(self, entries: list[Since]) -> None:
        make_directories(self.path.parent)
        data = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        replace_file(self.path, data)
        self.entries = entries


def noted(report: Report, since: Since) -> Row:
    """A change of rules as a line of the journal."""
    return {
        "note": "new rules",
        "after_ingest": since.ingest,
        "rules_sha256": hashlib.sha256(since.text.encode()).hexdigest(),
        "kept": [str(fate) for fate in report.kept],
        "reset": [str(fate) for fate in report.reset],
        "new": [str(fate) for fate in report.new],
        "dropped": [str(fate) for fate in report.dropped],
    }
