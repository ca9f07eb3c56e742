"""The client's side of the proof that both know the password (PROTOCOL.md 12.8); no sockets."""

from __future__ import annotations

from enum import Enum, auto

from mt5bridge.credential import Credential
from mt5bridge.proof import Prover, is_same, new_challenge, proof_of
from mt5bridge.wire import Challenge, Error, Proof, WireError, decode

PATIENCE_MS = 10_000


class Proved(Enum):
    """How it ended."""

    YES = auto()
    NO = auto()  # who is there does not know the password, or says something else before
    DENIED = auto()  # who is there says that we do not


class Proving:
    """One connection's; `challenge` is to be sent first."""

    def __init__(self, credential: Credential, now_ms: int) -> None:
        self.challenge = new_challenge()
        self._credential = credential
        self._since_ms = now_ms
        self._daemons: Challenge | None = None
        self._has_failed = False

    def is_overdue(self, now_ms: int) -> bool:
        """Whether nobody has answered for too long."""
        return now_ms - self._since_ms > PATIENCE_MS

    def hear(self, message: bytes) -> Proof | Proved:
        """Take a message; what to answer, or how it ended. Nothing is believed after a NO."""
        try:
            frame = decode(message)
        except WireError:
            frame = None
        if self._has_failed:
            return Proved.NO
        if isinstance(frame, Challenge) and self._daemons is None:
            self._daemons = frame
            return self._proof(Prover.TERMINAL, frame)
        if isinstance(frame, Proof) and self._daemons is not None:
            is_right = is_same(frame, self._proof(Prover.DAEMON, self._daemons))
            self._has_failed = not is_right
            return Proved.YES if is_right else Proved.NO
        self._has_failed = True
        return Proved.DENIED if isinstance(frame, Error) else Proved.NO

    def _proof(self, prover: Prover, daemons: Challenge) -> Proof:
        return proof_of(prover, self._credential, self.challenge, daemons)
