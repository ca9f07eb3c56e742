"""Both sides prove that they know a password without saying it (PROTOCOL.md 12.8).

Each side draws a nonce; a proof is the HMAC-SHA256, by the password, of both. Nothing that one side
says can be said again by the other, nor on another connection.
"""

from __future__ import annotations

import hmac
import secrets
from enum import StrEnum
from hashlib import sha256

from mt5bridge.credential import Credential
from mt5bridge.wire import Challenge, Proof

_NONCE_BYTES = 16
_HEAD = "mt5bridge proof 1"


class Prover(StrEnum):
    """Who proves."""

    TERMINAL = "terminal"
    DAEMON = "daemon"


def new_challenge() -> Challenge:
    """128 random bits."""
    return Challenge(secrets.token_hex(_NONCE_BYTES))


def proof_of(
    prover: Prover, credential: Credential, terminals: Challenge, daemons: Challenge
) -> Proof:
    """What a side says to the challenges of both."""
    text = "\n".join((_HEAD, prover, credential.user, terminals.nonce, daemons.nonce))
    return Proof(hmac.new(credential.password.encode(), text.encode(), sha256).hexdigest())


def is_same(one: Proof, other: Proof) -> bool:
    """How long this takes tells nothing of either."""
    return hmac.compare_digest(one.proof, other.proof)
