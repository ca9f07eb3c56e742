"""The result of each case, and the table of them."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from loguru import logger

from cep.lang.errors import RuleError
from tests.conformance.cases import Case
from tests.conformance.compare import differences
from tests.conformance.deviations import Known, deviations
from tests.conformance.drivers import Driver
from tests.conformance.runs import CaseRun

MakeDriver = Callable[[str, str], Driver]
"""Makes the driver of an app from its text and the mode, '' or 'siddhi'."""


@dataclass(frozen=True)
class Result:
    """How a case went; `lines` say what differs, `log` what was logged meanwhile.

    With `known` the case is a listed deviation that the default mode answers in its own way;
    `lines` are then those of Siddhi's mode, of which there must be none. `in_siddhis_mode` says
    that a case which is not listed is answered in that mode.
    """

    case: Case
    lines: list[str] = field(default_factory=list)
    known: Known | None = None
    log: list[str] = field(default_factory=list)
    in_siddhis_mode: bool = False

    @property
    def passed(self) -> bool:
        return not self.lines or (self.known is not None and self.known.is_recording)


def evaluate(
    case: Case, make: MakeDriver, file: str = "", compat: str = "", merged: bool = False
) -> Result:
    """Run a case; a listed deviation that differs is run again in Siddhi's mode.

    With `merged` all rows of a step are compared together, whatever their batches.
    """
    result = _run(case, make, compat, merged)
    known = deviations().get(f"{file}:{case.id}")
    if not result.lines:
        return result
    if known is None:
        given = not compat and not _run(case, make, "siddhi", merged=False).lines
        return replace(result, in_siddhis_mode=given)
    again = result if compat or known.is_recording else _run(case, make, "siddhi", merged)
    return replace(again, known=known)


def _run(case: Case, make: MakeDriver, compat: str, merged: bool) -> Result:
    """An exception of ours is a difference, in whatever shape it comes."""
    log: list[str] = []
    logger.remove()
    logger.add(log.append, level="WARNING", format="{message}\n{exception}")
    try:
        return Result(case, _lines(case, lambda text: make(text, compat), merged), log=log)
    except Exception:  # noqa: BLE001 -- a broken engine must not stop the table
        return Result(case, [traceback.format_exc()], log=log)


def _lines(case: Case, make: Callable[[str], Driver], merged: bool) -> list[str]:
    run = CaseRun(case, make)
    try:
        run.run()
    except RuleError as error:
        return [] if case.refused else [f"refused: {error}"]
    if case.refused:
        return ["the app must be refused"]
    return differences(case, run.outputs, run.answers, merged)


def table(results: Iterable[Result]) -> list[str]:
    """Lines: per area the cases that pass, deviate as listed, pass in Siddhi's mode only, fail."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        row = counts.setdefault(_area(result.case), Counter())
        row[_verdict(result)] += 1
    verdicts = ("passed", "known", "mode", "failed")
    lines = [f"{'area':<28}" + "".join(f"{verdict:>8}" for verdict in verdicts)]
    for area, row in sorted(counts.items()):
        lines.append(f"{area:<28}" + "".join(f"{row[verdict]:>8}" for verdict in verdicts))
    return lines


def _area(case: Case) -> str:
    return f"{case.area} (refused)" if case.refused else case.area


def _verdict(result: Result) -> str:
    if not result.passed:
        return "mode" if result.in_siddhis_mode else "failed"
    return "known" if result.known else "passed"
