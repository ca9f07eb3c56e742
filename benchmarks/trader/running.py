"""The rule files at work: their plans, what they put out, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.measure import seconds
from benchmarks.trader import references  # noqa: F401
from benchmarks.trader.answers import REFERENCES, difference
from benchmarks.trader.market import Market
from cep.engine.compiled import Machine
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan, compile_rules
from cep.replay import replay, replay_interpreted

FOLDER = Path(__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.cep"))


def plan_of(name: str) -> Plan:
    """The plan of a rule file; RuleError tells what is wrong with it."""
    return compile_rules((FOLDER / f"{name}.cep").read_text(encoding="utf-8"), f"{name}.cep")


def compiled(name: str, *, jit: bool = True, machine: Machine = "needed") -> Compiled:
    """A rule file, to put out the stream of its reference."""
    return Compiled(plan_of(name), outputs=[REFERENCES[name].stream], jit=jit, machine=machine)


def native_rows(rules: Compiled, market: Market) -> pd.DataFrame:
    """What the native engine puts out."""
    batches = replay(rules, market.sources(rules.plan))
    return pd.DataFrame([row for rows in batches for row in rows.dicts()])


def interpreted_rows(name: str, market: Market) -> pd.DataFrame:
    """What the interpreter puts out."""
    plan = plan_of(name)
    run = InterpretedRun(plan, [REFERENCES[name].stream])
    batches = replay_interpreted(run, market.sources(plan))
    return pd.DataFrame([row for rows in batches for row in rows])


def wrong(name: str, market: Market, found: pd.DataFrame) -> str:
    """How an output differs from the reference, nothing where it does not."""
    reference = REFERENCES[name]
    return difference(reference.compute(market), found, reference.rounded)


def native_seconds(rules: Compiled, market: Market) -> tuple[float, int]:
    """Seconds from Arrow columns in to the rows as dictionaries out, and how many rows."""
    found: list[int] = []
    sources = market.sources(rules.plan)
    taken_s = seconds(lambda: found.extend(len(rows.dicts()) for rows in replay(rules, sources)))
    return taken_s, sum(found)


def how_it_runs(rules: Compiled) -> str:
    """Whether a rule file has a module of its own, or is a program, or why it is neither."""
    if rules.is_generated("sorted"):
        return "module"
    return "program" if rules.whole is not None else f"interpreted: {rules.why_not_whole}"
