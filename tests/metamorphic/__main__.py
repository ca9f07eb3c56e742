"""`python -m tests.metamorphic NUMBER [WAY]`: one triple, and the first row that differs in it.

Without a number: new ones until one differs that is not known to.
"""

from __future__ import annotations

import sys
from itertools import count
from secrets import randbelow

from loguru import logger

from tests.metamorphic.known import finding
from tests.metamorphic.triples import NUMBERS_BELOW, Triple, triple, verdict
from tests.metamorphic.ways import WAYS


def shown(one: Triple) -> str:
    """A triple as text: the change, the rules, the stream."""
    lines = [f"{one.command}: {one.change}, run by: {one.way}, {one.mode}", "", one.before.text]
    if one.changes_rules:
        lines += ["", "-- changed:", one.after.text]
    lines += ["", *(f"{n}: {stream or 'time'} {at} {row}" for n, (stream, at, row)
                    in enumerate(one.steps))]  # fmt: skip
    return "\n".join(lines)


def report(one: Triple) -> int:
    """Print a triple, made as small as it may be where it differs; 1 if it does."""
    found = finding(one)
    if found is None:
        print(shown(one), verdict(one), sep="\n\n")
        return 0
    print(shown(found.triple), found.difference, sep="\n\n")
    if found.known is not None:
        print(f"known: {found.known.name}: {found.known.why}")
    return int(found.known is None)


def explore() -> int:
    """Draw numbers until one differs."""
    for tried in count(1):
        found = finding(triple(randbelow(NUMBERS_BELOW)))
        if found is not None and found.known is None:
            print(f"after {tried} triples:")
            return report(found.triple)
    return 0


def main(arguments: list[str]) -> int:
    logger.remove()
    if not arguments:
        return explore()
    number, *way = arguments
    if not number.isdecimal() or len(way) > 1 or not {*way} <= WAYS.keys():
        print(__doc__, f"WAY is one of {', '.join(WAYS)}", sep="\n", file=sys.stderr)
        return 2
    return report(triple(int(number), *way))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
