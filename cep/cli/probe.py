"""`mt5cep terminal probe`: what a terminal was measured to do, and two of them side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from cep.cli.errors import INTERNAL, UserError
from cep.cli.paths import FILE
from cep.cli.text import aligned, counted, say
from mt5bridge.escapes import visible_json
from mt5bridge.terminal.assumptions import ASSUMPTIONS, Assumption, emulated, shown
from mt5bridge.terminal.findings import Level
from mt5bridge.terminal.folders import Machine, find
from mt5bridge.terminal.probe import PLACE, RUN, Probe, deviations, read_probe

COMPARED = 2


class Row(msgspec.Struct):
    """A fact for people and for programs."""

    fact: str
    value: bool | int | float | str | None
    """None: not measured."""
    needed: str
    emulated: list[bool | int | float | str]
    holds: bool | None
    remedy: str = ""


@click.command("probe")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE] [OTHER]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], as_json: bool) -> None:
    """Show what the script SelfTest has measured in a terminal, or where two terminals differ.

    FILE is a probe.json; left out, those of the terminals that are found are shown. The exit code
    is 1 when a fact is otherwise and orders or completeness depend on it.
    """
    if len(files) > COMPARED:
        raise UserError(f"{len(files)} files: two can be compared", "name one or two")
    probes = [(path, measured(path)) for path in files or there()]
    if len(files) == COMPARED:
        (_, one), (_, other) = probes
        if as_json:
            click.echo(visible_json(compared_json(one, other)))
        else:
            say(compared(one, other))
        return
    if as_json:
        click.echo(visible_json(msgspec.json.encode([told(*one) for one in probes])))
    else:
        say("\n\n".join(text(path, probe) for path, probe in probes))
    wrong = (one.assumption.level for _, probe in probes for one in deviations(probe))
    ctx.exit(INTERNAL if Level.PROBLEM in wrong else 0)


def there() -> list[Path]:
    """The probes of this machine's terminals. UserError without one."""
    found = [path for folder in find(Machine.here()) if (path := folder.mql5 / PLACE).is_file()]
    if not found:
        raise UserError("no terminal here was measured", f"run the script: {RUN}; or name a file")
    return found


def measured(path: Path) -> Probe:
    """What a file holds. UserError where there is none, ProbeError, OSError."""
    try:
        return read_probe(path)
    except FileNotFoundError:
        raise UserError(
            f"{path}: there is no such file",
            f"without a name those of the terminals here are shown; one is made so: {RUN}",
        ) from None


def rows(probe: Probe) -> Iterator[Row]:
    """Every fact of the table, as it is in a probe."""
    for name, one in ASSUMPTIONS.items():
        value, holds = probe.facts.get(name), verdict(probe, one)
        remedy = one.remedy if holds is False else ""
        yield Row(name, value, one.holds.text(), emulated().get(name, []), holds, remedy)


def told(path: Path, probe: Probe) -> dict[str, object]:
    """A probe for programs."""
    head = {name: value for name, value in msgspec.structs.asdict(probe).items() if name != "facts"}
    return {"file": str(path), **head, "facts": list(rows(probe))}


def text(path: Path, probe: Probe) -> str:
    """A probe for people: the table, what is otherwise, what is not measured."""
    found = list(rows(probe))
    wrong = [f"{row.fact}: {row.remedy}" for row in found if row.holds is False]
    missing = [row.fact for row in found if row.holds is None]
    table = aligned([["", "fact", "found", "needed", "emulated"], *map(cells, found)])
    reasons = [f"{group} not measured: {why}" for group, why in sorted(probe.skipped.items())]
    short = f"{counted(len(wrong), 'fact')} otherwise, {len(missing)} not measured"
    return "\n".join([str(path), probe.title, *table, *wrong, *reasons, short])


def cells(row: Row) -> list[str]:
    mark = {True: "", False: "!", None: "?"}[row.holds]
    value = "" if row.value is None else shown(row.value)
    return [mark, row.fact, value, row.needed, " or ".join(map(shown, row.emulated))]


def differing(one: Probe, other: Probe) -> list[Assumption]:
    """Facts that two probes have otherwise. Figures of speed differ when one is not as needed."""
    return [
        fact
        for name, fact in ASSUMPTIONS.items()
        if (one.facts.get(name) != other.facts.get(name) and not fact.varies)
        or verdict(one, fact) != verdict(other, fact)
    ]


def verdict(probe: Probe, fact: Assumption) -> bool | None:
    """Whether a fact is as it is needed; None: not measured."""
    value = probe.facts.get(fact.name)
    return None if value is None else fact.holds.holds(value)


def compared(one: Probe, other: Probe) -> str:
    """Where two terminals differ, for people."""
    facts = differing(one, other)
    lines = [f"1: {one.title}", f"2: {other.title}"]
    if facts:
        head = ["fact", "1", "2", "needed"]
        lines += aligned([head, *([fact.name, *both(fact, one, other), fact.holds.text()]
                                  for fact in facts)])  # fmt: skip
    return "\n".join(
        [*lines, f"{counted(len(facts), 'fact')} differ" if facts else "no difference"]
    )


def both(fact: Assumption, *probes: Probe) -> list[str]:
    values = (probe.facts.get(fact.name) for probe in probes)
    return ["not measured" if value is None else shown(value) for value in values]


def compared_json(one: Probe, other: Probe) -> bytes:
    """The same for programs."""
    return msgspec.json.encode([
        {"fact": fact.name, "values": [one.facts.get(fact.name), other.facts.get(fact.name)],
         "needed": fact.holds.text()}
        for fact in differing(one, other)
    ])  # fmt: skip
