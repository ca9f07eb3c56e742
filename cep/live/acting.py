"""Up to which record nobody acts on what rules find: what was stored before they came.

It is on disk before they begin, so that a crash in the middle of their warm-up changes nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from cep.live.quarantine import Complain, set_file_aside, warn
from mt5bridge.spool.disk import make_directories, replace_file


class _Told(msgspec.Struct, frozen=True):
    after: int
    awaits: str = ""


class Acting:
    """A small file beside the snapshots; without one rules act on all that they find."""

    def __init__(self, path: Path, complain: Complain = warn) -> None:
        self._path = path
        self._told = _Told(0)
        try:
            self._told = msgspec.json.decode(path.read_bytes(), type=_Told)
        except FileNotFoundError:
            pass
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            set_file_aside(path, problem, complain)

    @property
    def after(self) -> int:
        """On what later records lead to, rules act."""
        return self._told.after

    def begin(self, after: int) -> None:
        """They act on what comes behind this record; on disk when this returns."""
        self._write(_Told(after))

    def expect(self, after: int, text: str) -> None:
        """The same of new rules, which have this text and have nothing else on disk yet.

        Those that were interrupted there go on with what their first start has said.
        """
        if not self.expects(text):
            self._write(_Told(after, _digest(text)))

    def expects(self, text: str) -> bool:
        """Whether rules with this text were interrupted before they had begun."""
        return self._told.awaits == _digest(text)

    def _write(self, told: _Told) -> None:
        if told != self._told or not self._path.exists():
            make_directories(self._path.parent)
            replace_file(self._path, msgspec.json.encode(told) + b"\n")
            self._told = told


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
