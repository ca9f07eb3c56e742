"""What a seed makes of a world: how it begins, and what befalls its daemon in each life."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.world.disk import Trouble

_TURNS = 220
_STEPS = 160
_PLACES = ("", "", "segment", "orders.journal", "events", ".state")


@dataclass(frozen=True)
class Life:
    """A daemon's, from its start to its end. After `turns` turns it is told to end, or killed."""

    trouble: Trouble
    turns: int
    is_killed: bool
    loses_power: bool
    away_ms: int
    """From its end to the next one's start."""


@dataclass(frozen=True)
class Plan:
    """`habits` are the odds, in a turn, of what may happen in any of them; `pace` those that a
    thread of the daemon makes a turn of its own.
    """

    ticks: int
    lives: tuple[Life, ...]
    habits: dict[str, float]
    pace: dict[str, float]


HABITS = {
    "hang_up": 0.02,  # a connection ends
    "begin": 0.01,  # a terminal's program begins anew
    "switch": 0.008,  # it logs in to its other account
    "confirm": 0.03,  # somebody confirms the account that waits
    "halt": 0.008,  # the kill switch is turned
    "halt_rules": 0.008,  # the kill switch of a rule file is turned
    "order": 0.03,  # somebody sends an order
    "rules": 0.008,  # a rule file changes
    "turn_rules": 0.008,  # a rule file is stopped or loaded
    "reload": 0.004,  # SIGHUP
    "jump": 0.006,  # the wall clock is set
    "sleep": 0.004,  # the machine sleeps
    "crowd": 0.01,  # a connection has no room
    "stranger": 0.02,  # somebody says what nobody should
}


def plan_of(chance: random.Random) -> Plan:
    """Some worlds know only some of what may happen: they come farther in it."""
    lives = tuple(_life(chance) for _ in range(chance.randint(1, 4)))
    habits = {name: odds * chance.choice((0.0, 1.0, 3.0)) for name, odds in HABITS.items()}
    pace = {name: chance.choice((0.5, 0.15, 0.03)) for name in ("commit", "sync", "work", "feed")}
    return Plan(chance.randint(30, 90), lives, habits, pace)


def _life(chance: random.Random) -> Life:
    kind = chance.choice(("step", "turn", "error", "full", "end"))
    trouble = Trouble(where=chance.choice(_PLACES))
    at = chance.randint(1, 20 if trouble.where else _STEPS)
    if kind == "step":
        trouble.killed_at = at
    elif kind == "error":
        trouble.fails_at = at
    elif kind == "full":
        trouble.full_at, trouble.full_for = at, chance.randint(1, 60)
    is_killed = kind != "end" and chance.random() < 0.7
    loses_power = is_killed and chance.random() < 0.5
    away_ms = chance.choice((0, 500, 5_000, 70_000))
    return Life(trouble, chance.randint(5, _TURNS), is_killed, loses_power, away_ms)
