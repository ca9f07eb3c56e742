"""Connections that were let in without their password, until they have proved that they know it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mt5bridge.clock import Now
from mt5bridge.credential import Credential
from mt5bridge.proof import Prover, is_same, new_challenge, proof_of
from mt5bridge.server.refusals import Refusals
from mt5bridge.wire import Challenge, Error, ErrorCode, Frame, Proof, WireError, decode

UNPROVEN = "\x01"
"""Begins the name that the authenticator gives such a connection; no user's name does."""
PROVE_MS = 10_000
_FRAME_BYTES_MAX = 256
_ROUTES_MAX = 4_096


@dataclass(slots=True)
class _Dialog:
    """What a connection has said so far; without challenges, it is not heard any more."""

    since_ms: int
    terminals: Challenge | None = None
    daemons: Challenge | None = None


class Proofs:
    """By route. Of more than may be open at once the oldest have to begin again."""

    def __init__(self, passwords: Mapping[str, str], refusals: Refusals) -> None:
        self._passwords = dict(passwords)
        self._refusals = refusals
        self._open: OrderedDict[bytes, _Dialog] = OrderedDict()
        self._proven: OrderedDict[bytes, str] = OrderedDict()
        self.on_proven: Callable[[bytes], None] = lambda _route: None

    def change(self, passwords: Mapping[str, str]) -> None:
        """Others are known from now on; what was proved with another password is void."""
        before, self._passwords = self._passwords, dict(passwords)
        for route, user in list(self._proven.items()):
            if before.get(user) != self._passwords.get(user):
                del self._proven[route]

    def is_proven(self, route: bytes, user: str) -> bool:
        """Whether a connection may be heard as a user."""
        return not user.startswith(UNPROVEN) or self._proven.get(route) == user[1:]

    def take(self, route: bytes, data: bytes, user: str, now: Now) -> list[Frame]:
        """A message of a connection that has proved nothing yet; the answers."""
        dialog = self._open.get(route)
        if dialog is None:
            dialog = self._open[route] = _Dialog(now.ms)
            if len(self._open) > _ROUTES_MAX:
                self._open.popitem(last=False)
        elif dialog.terminals is None:
            return []  # refused already
        try:
            frame = decode(data) if len(data) <= _FRAME_BYTES_MAX else None
        except WireError:
            frame = None
        if isinstance(frame, Challenge) and dialog.terminals is None:
            dialog.terminals, dialog.daemons = frame, new_challenge()
            return [dialog.daemons]
        if isinstance(frame, Proof) and dialog.terminals is not None:
            return self._judge(route, dialog, frame, user[1:], now)
        return self._refuse(dialog, "a connection that says something before it has proved", now)

    def overdue(self, now: Now) -> list[bytes]:
        """Connections that had the time to prove it and have not; they are forgotten."""
        late = [route for route, one in self._open.items() if now.ms - one.since_ms > PROVE_MS]
        for route in late:
            del self._open[route]
        return late

    def _judge(
        self, route: bytes, dialog: _Dialog, found: Proof, user: str, now: Now
    ) -> list[Frame]:
        assert dialog.terminals is not None and dialog.daemons is not None
        if user not in self._passwords:
            return self._refuse(dialog, f"an unknown user, {user!r}", now)
        known = Credential(user, self._passwords[user])
        nonces = dialog.terminals, dialog.daemons
        if not is_same(found, proof_of(Prover.TERMINAL, known, *nonces)):
            return self._refuse(dialog, f"a wrong proof of the password of {user!r}", now)
        del self._open[route]
        self._proven[route] = user
        if len(self._proven) > _ROUTES_MAX:
            self._proven.popitem(last=False)
        self.on_proven(route)
        return [proof_of(Prover.DAEMON, known, *nonces)]

    def _refuse(self, dialog: _Dialog, what: str, now: Now) -> list[Frame]:
        dialog.terminals = dialog.daemons = None
        self._refusals.refuse("credentials_refused", f"{what}. {REMEDY}", now.ms)
        return [Error.of(ErrorCode.NOT_ALLOWED, "the credential is not this daemon's")]


REMEDY = (
    "The terminal's credential is not this daemon's: run `mt5cep terminal install` with this "
    "daemon's settings"
)
