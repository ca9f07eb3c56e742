"""The command line of the conformance runner."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tests.conformance.cases import Case, read
from tests.conformance.compiled import compiled, is_for_the_interpreter
from tests.conformance.drivers import InterpreterDriver
from tests.conformance.extensions import register_all
from tests.conformance.results import Result, evaluate, table

PROBLEMS_SHOWN = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases of the files; 1 when one fails, or is answered in Siddhi's mode only, that is
    no known deviation."""
    options = _options().parse_args(arguments)
    register_all()
    results = [
        _evaluated(case, path.stem, options)
        for path in options.files
        for case in read(path)
        if _is_wanted(case, options)
    ]
    failed = [result for result in results if not result.passed]
    in_mode = sum(result.in_siddhis_mode for result in failed)
    for result in results if options.show else failed:
        _show(result, whole=bool(options.show))
    _say("", *table(results), "")
    passed = len(results) - len(failed)
    _say(f"{passed} passed, {in_mode} in Siddhi's mode only, {len(failed) - in_mode} failed")
    return 1 if failed else 0


def _evaluated(case: Case, file: str, options: argparse.Namespace) -> Result:
    """Run a case: by default compiled as far as it can be, the rest interpreted."""
    if options.interpreter or is_for_the_interpreter(case):
        return evaluate(case, InterpreterDriver, file, options.compat)
    make = partial(compiled, jit=options.jit)
    return evaluate(case, make, file, options.compat, merged=not options.compat)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--area", action="append", help="only this area; may be repeated")
    parser.add_argument("--compat", default="", choices=["", "siddhi"])
    parser.add_argument("--jit", action="store_true", help="compile with Numba")
    parser.add_argument("--interpreter", action="store_true", help="the interpreter alone")
    parser.add_argument("--show", metavar="ID", help="the cases whose id has this in it, in full")
    return parser


def _is_wanted(case: Case, options: argparse.Namespace) -> bool:
    area = options.area is None or case.area in options.area
    return area and (options.show is None or options.show in case.id)


def _show(result: Result, whole: bool) -> None:
    verdict = "ok" if result.passed else "MODE" if result.in_siddhis_mode else "FAILED"
    _say(f"{verdict} {result.case.area} {result.case.id}")
    if result.known is not None:
        _say(f"  known: {result.known.reason}")
    if whole:
        _say(*(f"  app: {text}" for text in result.case.apps))
        _say(*(f"  step {number}: {step}" for number, step in enumerate(result.case.steps)))
        _say(*(f"  note: {note}" for note in result.case.notes))
        _say(*(f"  log: {text.rstrip()}" for text in result.log))
    lines = result.lines if whole else result.lines[:PROBLEMS_SHOWN]
    _say(*("  " + line.replace("\n", "\n  ") for line in lines))


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
