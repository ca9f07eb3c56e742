"""The frames by which both sides prove that they know a password (PROTOCOL.md 12.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from mt5bridge.wire.checks import require
from mt5bridge.wire.codes import FrameType
from mt5bridge.wire.layout import Text

_NONCE = re.compile("[0-9a-f]{32}")
_PROOF = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Challenge:
    """Both: prove it for this nonce, 128 bits as hexadecimal digits."""

    TYPE: ClassVar = FrameType.CHALLENGE
    nonce: Text

    def __post_init__(self) -> None:
        require(bool(_NONCE.fullmatch(self.nonce)), "a nonce has 32 hexadecimal digits")


@dataclass(frozen=True, slots=True)
class Proof:
    """Both: the HMAC of both nonces, 256 bits as hexadecimal digits."""

    TYPE: ClassVar = FrameType.PROOF
    proof: Text

    def __post_init__(self) -> None:
        require(bool(_PROOF.fullmatch(self.proof)), "a proof has 64 hexadecimal digits")
