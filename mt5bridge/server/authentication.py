"""Who is let in: nobody but by ZMTP 3 with PLAIN, a user and a password, on loopback too.

Who says that it will prove the password instead is let in as far as `proofs.py`, and no farther.
"""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from typing import Any

import zmq
from zmq.utils import z85

from mt5bridge.credential import CHALLENGE
from mt5bridge.server.proofs import REMEDY, UNPROVEN
from mt5bridge.server.refusals import Refusals
from mt5bridge.server.settings import Settings

_DOMAIN = b"mt5bridge"
_ENDPOINT = "inproc://zeromq.zap.01"  # where libzmq asks (rfc.zeromq.org/spec/27)
_VERSION, _MECHANISM = b"1.0", b"PLAIN"
_REQUESTS_A_LOOK = 64
_CURVE_REMEDY = "Make it a new file: `mt5cep credential curve`"
_CHALLENGE = CHALLENGE.encode()
_IN_THE_CLEAR = (
    "a password in the clear, of {!r} from {}, though `allow_plain` is off. Update the program "
    "(`mt5cep terminal install`), so that it proves that it knows the password"
)


class Authenticator:
    """Answers libzmq, which asks before it reads a frame of a peer; without an answer none is read.

    It lives in the server's thread: nobody is let in by a server that does not run.
    """

    def __init__(self, context: zmq.Context[Any], settings: Settings, refusals: Refusals) -> None:
        self.socket: zmq.Socket[bytes] = context.socket(zmq.REP)
        self.socket.linger = 0
        self.socket.bind(_ENDPOINT)
        self._refusals = refusals
        self._allow_plain = settings.allow_plain
        self._curve_secret = settings.curve_secret
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Let these in from now on; connections that stand are not asked again."""
        passwords = settings.passwords
        self._users = {z85.decode(key): user for user, key in settings.curve_keys.items()}
        self._digests = {user.encode(): _digest(word.encode()) for user, word in passwords.items()}

    def guard(self, router: zmq.Socket[bytes]) -> None:
        """Have libzmq ask here; to be called before `router` is bound.

        With a domain set it hangs up on NULL, on older ZMTP and on what is no ZMTP by itself.
        """
        router.plain_server = True
        router.zap_domain = _DOMAIN

    def guard_curve(self, router: zmq.Socket[bytes]) -> None:
        """The same for a router of connections by CURVE."""
        router.curve_server = True
        router.curve_secretkey = self._curve_secret.encode()
        router.zap_domain = _DOMAIN

    def answer(self, now_ms: int) -> None:
        """Answer what has been asked."""
        for _ in range(_REQUESTS_A_LOOK):
            try:
                parts = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self.socket.send_multipart(self._reply(parts, now_ms))

    def _reply(self, parts: list[bytes], now_ms: int) -> list[bytes]:
        version, request, domain, address, _route, mechanism, *given = parts
        if (version, domain, mechanism) == (_VERSION, _DOMAIN, b"CURVE"):
            return self._reply_curve(request, address, given, now_ms)
        asked = (version, domain, mechanism, len(given)) == (_VERSION, _DOMAIN, _MECHANISM, 2)
        if asked and given[1] == _CHALLENGE and given[0] in self._digests:
            return [_VERSION, request, b"200", b"OK", UNPROVEN.encode() + given[0], b""]
        if asked and self._allow_plain and self._knows(*given):
            return [_VERSION, request, b"200", b"OK", given[0], b""]
        self._refuse(address, given, now_ms)
        return [_VERSION, request, b"400", b"user or password is wrong", b"", b""]

    def _reply_curve(
        self, request: bytes, address: bytes, given: list[bytes], now_ms: int
    ) -> list[bytes]:
        user = self._users.get(given[0]) if len(given) == 1 else None
        if user is not None:
            return [_VERSION, request, b"200", b"OK", user.encode(), b""]
        text = f"an unknown CURVE key from {address.decode(errors='replace')}. {_CURVE_REMEDY}"
        self._refusals.refuse("credentials_refused", text, now_ms)
        return [_VERSION, request, b"400", b"the key is not known", b"", b""]

    def _knows(self, user: bytes, password: bytes) -> bool:
        """Whether the password is the user's; how long this takes tells nothing of it."""
        given = _digest(password)
        expected = self._digests.get(user)
        is_right = compare_digest(given, given if expected is None else expected)
        return is_right and expected is not None and bool(password)

    def _refuse(self, address: bytes, given: list[bytes], now_ms: int) -> None:
        user = given[0] if given else b""
        if not self._allow_plain and given[1:] not in ([], [_CHALLENGE]):
            place = user[:64].decode(errors="replace"), address.decode(errors="replace")
            self._refusals.refuse("credentials_refused", _IN_THE_CLEAR.format(*place), now_ms)
            return
        what = "a wrong password" if user in self._digests else "an unknown user"
        name = user[:64].decode(errors="replace")
        text = f"{what}, {name!r} from {address.decode(errors='replace')}. {REMEDY}"
        self._refusals.refuse("credentials_refused", text, now_ms)


def _digest(password: bytes) -> bytes:
    return sha256(password).digest()
