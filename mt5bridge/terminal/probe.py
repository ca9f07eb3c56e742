"""What the script SelfTest has found out about a terminal; anybody may have written the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from mt5bridge.terminal.assumptions import ASSUMPTIONS, Assumption, Value, shown
from mt5bridge.terminal.findings import Finding, finding
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.inspection import subject_of
from mt5bridge.terminal.sources import OWN, sources_version

PLACE = Path("Files", OWN, "probe.json")
"""Relative to `MQL5`."""
LIFE = "probe-life.json"
"""Beside it, what the expert SelfTestLife has found out."""
LIFE_GROUPS = ("event.", "life.")
BYTES_MAX = 262_144
NAMED_MAX = 5
RUN = "in the terminal: Navigator > Scripts > Mt5Bridge > SelfTest, onto a chart that is quoted"
RUN_LIFE = (
    "not measured yet: Navigator > Expert Advisors > Mt5Bridge > SelfTestLife, onto such a chart"
)

Line = Annotated[str, msgspec.Meta(max_length=300, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_.]{1,64}$")]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class ProbeError(ValueError):
    """A file that cannot be used; its text names the place, `hint` the remedy."""

    hint = f"run the script again ({RUN}): it writes the file anew"


class Probe(msgspec.Struct, frozen=True):
    """The facts of a terminal, and with what they were found."""

    probe: Literal[1]
    program: Line
    """The version of the sources."""
    terminal: Line
    build: Number
    account: Literal["none", "demo", "contest", "real"]
    symbol: Line
    written: Line
    """UTC."""
    facts: Annotated[dict[Name, bool | int | float | Line], msgspec.Meta(max_length=1_000)]
    skipped: Annotated[dict[Name, Line], msgspec.Meta(max_length=1_000)]
    """Why facts whose names begin so are not there."""

    @property
    def title(self) -> str:
        """What it is the probe of, in a line."""
        return (
            f"{self.terminal} build {self.build}, sources {self.program}, account {self.account}, "
            f"{self.symbol}, {self.written} UTC"
        )


class Deviation(msgspec.Struct, frozen=True):
    """A fact that is not what the sources take for granted."""

    assumption: Assumption
    value: Value

    @property
    def text(self) -> str:
        """The fact in a line."""
        one = self.assumption
        return f"{one.name} is {shown(self.value)}, assumed {one.holds.text()} ({one.asks})"


def read_probe(path: Path) -> Probe:
    """The probe in a file, with the facts of the expert beside it if they are of the same terminal.

    ProbeError for what no program of ours has written, OSError.
    """
    probe, beside = _read(path), path.with_name(LIFE)
    if any(name.startswith(LIFE_GROUPS) for name in probe.facts):
        return probe
    reason = RUN_LIFE
    if beside.is_file():
        life = _read(beside)
        if (life.program, life.build) == (probe.program, probe.build):
            facts, skipped = life.facts | probe.facts, life.skipped | probe.skipped
            return msgspec.structs.replace(probe, facts=facts, skipped=skipped)
        reason = f"measured by version {life.program} in build {life.build}; {RUN_LIFE}"
    skipped = dict.fromkeys(LIFE_GROUPS, reason) | probe.skipped
    return msgspec.structs.replace(probe, skipped=skipped)


def _read(path: Path) -> Probe:
    with path.open("rb") as file:
        raw = file.read(BYTES_MAX + 1)
    if len(raw) > BYTES_MAX:
        raise ProbeError(f"{path}: more than {BYTES_MAX:,} bytes, which is no probe")
    try:
        return msgspec.json.decode(raw, type=Probe)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise ProbeError(f"{path}: no probe of a terminal: {problem}") from None


def deviations(probe: Probe) -> list[Deviation]:
    """The facts that are otherwise, in the order of the table."""
    return [
        Deviation(one, probe.facts[name])
        for name, one in ASSUMPTIONS.items()
        if name in probe.facts and not one.holds.holds(probe.facts[name])
    ]


def unmeasured(probe: Probe) -> list[str]:
    """Names of the table that the probe does not have."""
    return [name for name in ASSUMPTIONS if name not in probe.facts]


def judge_probes(folders: Iterable[DataFolder]) -> Iterator[Finding]:
    """What each terminal that has our sources was measured to do, against what they assume."""
    for folder in folders:
        there = sources_version(folder.mql5)
        if there is None:
            continue
        subject, path = subject_of(folder), folder.mql5 / PLACE
        try:
            probe = read_probe(path)
        except FileNotFoundError:
            yield finding("platform not measured", subject, f"{path} is not there")
        except (OSError, ProbeError) as problem:
            yield finding("probe unreadable", subject, str(problem))
        else:
            yield from _judge(probe, there, subject)


def _judge(probe: Probe, version: str, subject: str) -> Iterator[Finding]:
    if probe.program != version:
        seen = f"measured by version {probe.program}, the sources are {version}"
        yield finding("platform not measured", subject, seen)
        return
    wrong = deviations(probe)
    for one in wrong:
        entry = finding("platform differs", subject, one.text, one.assumption.level)
        yield msgspec.structs.replace(entry, remedy=one.assumption.remedy)
    missing = unmeasured(probe)
    if missing:
        yield finding("platform not measured", subject, _missing(missing, probe))
    elif not wrong:
        measured = len(ASSUMPTIONS)
        yield finding("platform", subject, f"{probe.title}: all {measured} facts as assumed")


def _missing(names: list[str], probe: Probe) -> str:
    more = f" and {len(names) - NAMED_MAX} more" * (len(names) > NAMED_MAX)
    why = "".join(f"; {group}: {reason}" for group, reason in sorted(probe.skipped.items()))
    return f"not measured: {', '.join(names[:NAMED_MAX])}{more}{why}"
