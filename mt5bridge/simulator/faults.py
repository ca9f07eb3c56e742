"""Puts a script's faults between the client and the socket."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from mt5bridge.simulator.script import Action, Fault, Script
from mt5bridge.wire import Deals, Frame, Ticks, encode


@dataclass(slots=True)
class Sending:
    """What goes out after the faults: messages, then perhaps the end of the connection."""

    messages: list[bytes] = field(default_factory=list)
    disconnect: bool = False
    silence_ms: int = 0
    lost: list[Ticks | Deals] = field(default_factory=list)


class Faults:
    """Counts the records that pass, and strikes where the script says."""

    def __init__(self, script: Script) -> None:
        self._random = random.Random(script.seed)
        self._due = [(fault.at_record, fault) for fault in script.fault]
        self._records = 0
        self.struck: list[Action] = []

    def apply(self, frames: list[Frame]) -> Sending:
        """Encode frames; those behind a disconnection are not sent."""
        sending = Sending()
        for frame in frames:
            if isinstance(frame, Ticks | Deals):
                self._records += len(frame.records)
                fault = self._next_fault()
                if fault is not None:
                    self._strike(fault, frame, sending)
                    if sending.disconnect:
                        break
                    continue
            sending.messages.append(encode(frame))
        return sending

    def _next_fault(self) -> Fault | None:
        for index, (at_record, fault) in enumerate(self._due):
            if at_record <= self._records:
                del self._due[index]
                if fault.every_records > 0:
                    self._due.append((self._records + fault.every_records, fault))
                self.struck.append(fault.action)
                return fault
        return None

    def _strike(self, fault: Fault, frame: Ticks | Deals, sending: Sending) -> None:
        data = encode(frame)
        match fault.action:
            case Action.DISCONNECT:
                sending.disconnect = True
            case Action.DUPLICATE:
                sending.messages += [data, data]
            case Action.LOSE:
                sending.lost.append(frame)
            case Action.CORRUPT:
                sending.messages.append(self._flipped(data))
            case Action.GARBAGE:
                sending.messages += [self._random.randbytes(100), data]
            case Action.SILENCE:
                sending.messages.append(data)
                sending.silence_ms = fault.for_ms
            case Action.SKIP:
                return

    def _flipped(self, data: bytes) -> bytes:
        bit = self._random.randrange(8 * len(data))
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        return bytes(broken)
