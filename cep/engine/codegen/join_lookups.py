"""Many joins that look for equal values: a row asks for all members at once.

Each member asks for another value. The slot index tells whose value some row may have; where what
members ask is a run of whole numbers, 32 at a time. What is found is packed, a member's newest rows
first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cep.engine.codegen.slot_index import Frame, Held, unsigned
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.slot_index import WORD, WORD_BITS, WORD_MASK

MANY = 8
"""Fewer members are asked one after the other."""
TOP = "top"
"""The local with the place behind what has been packed."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Writes and tells what a member (its number) asks for, whether it sees a row, and which values
    it selects of the pair.
    """

    ask: Callable[[str], str]
    sees: Callable[[str, Held], str]
    select: Callable[[str, Held], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Run:
    """Members that ask for neighbouring whole numbers, as tables of the module.

    `lowest` asks for the least. `masks` has a bit for each number somebody asks for, `firsts` where
    those who ask for it begin among `members`; it is empty where they are one each.
    """

    lowest: int
    words: int
    masks: str
    firsts: str
    members: str

    @classmethod
    def of(cls, offsets: Sequence[int], tables: Tables, suffix: str) -> Run | None:
        """None where the numbers lie too far apart: to look for a member costs as a word does."""
        least = min(offsets)
        words = (max(offsets) - least) // WORD + 1
        if words > len(offsets):
            return None
        order = sorted(range(len(offsets)), key=offsets.__getitem__)
        places = [offsets[one] - least for one in order]
        masks = [0] * words
        for place in places:
            masks[place >> WORD_BITS] |= 1 << (place & WORD_MASK)
        members, firsts = order, [sum(one < n for one in places) for n in range(words * WORD + 1)]
        is_single = len(set(places)) == len(places)
        if is_single:
            members = [order[min(first, len(order) - 1)] for first in firsts]
        return cls(
            order[0],
            words,
            tables.array(f"{suffix}B", masks),
            "" if is_single else tables.array(f"{suffix}F", firsts),
            tables.array(f"{suffix}M", members),
        )


@dataclass(frozen=True, slots=True)
class Lookups:
    """Writes the lookups of `count` members in a ring, whose rows have their key in cell `key`."""

    count: int
    frame: Frame
    key: int
    asking: Asking

    def write(self, w: Writer, run: Run | None) -> None:
        """All pairs of the row that has come, packed from `top` on."""
        if run is None:
            member = w.name("member")
            with w.block(f"for {member} in range({self.count}):"):
                key = self.asking.ask(member)
                slot = w.let("slot", self.frame.slot(key))
                with guarded(w, [f"has_row(wi, {self.frame.words}, {slot}) != 0"]):
                    self._write_chain(w, member, key, slot)
            return
        least, word = self.asking.ask(str(run.lowest)), w.name("word")
        ring = f"{self.frame.words}, {self.frame.slots}"
        with w.block(f"for {word} in range({run.words}):"):
            first = f"{least} + {word} * {WORD}"
            hits = w.let("hits", f"slots_with_rows(wi, {ring}, {first}) & {run.masks}[{word}]")
            with w.block(f"while {hits} != 0:"):
                bit = w.let("bit", f"{hits} & -{hits}")
                w(f"{hits} ^= {bit}")
                self._write_place(w, run, w.let("place", f"{word} * {WORD} + place_of({bit})"))

    def _write_place(self, w: Writer, run: Run, place: str) -> None:
        """Those who ask for a number of the run."""
        if not run.firsts:
            self._write_member(w, w.let("member", f"{run.members}[{unsigned(place)}]"))
            return
        at = w.name("at")
        with w.block(f"for {at} in range({run.firsts}[{place}], {run.firsts}[{place} + 1]):"):
            self._write_member(w, w.let("member", f"{run.members}[{unsigned(at)}]"))

    def _write_member(self, w: Writer, member: str) -> None:
        key = self.asking.ask(member)
        self._write_chain(w, member, key, w.let("slot", self.frame.slot(key)))

    def _write_chain(self, w: Writer, member: str, key: str, slot: str) -> None:
        """The rows of a slot: each is written, and stands if it has the value and is seen."""
        frame, asking = self.frame, self.asking
        position = w.let("position", frame.newest_in(slot))
        with w.block(f"while {position} >= {frame.head}:"):
            held = frame.write_held(w, position)
            values = (member, *asking.select(member, held))
            w(*(f"ol[{unsigned(f'{TOP} + {n}')}] = {one}" for n, one in enumerate(values)))
            stands = w.let("stands", f"wi[{unsigned(f'{held.row} + {self.key}')}] == {key}")
            with w.block(f"if {position} < {frame.all_see}:"):
                w(f"{stands} = {stands} & {asking.sees(member, held)}")
            w(f"{TOP} += {len(values)} * {stands}", f"{position} = {frame.before(held)}")
