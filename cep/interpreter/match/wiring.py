"""From the states of the plan to stages that know where their matches go."""

from __future__ import annotations

from dataclasses import dataclass

from cep.interpreter.match.absent import AbsentStage
from cep.interpreter.match.absent_side import AbsentSide
from cep.interpreter.match.counted import CountedStage
from cep.interpreter.match.frame import Frame
from cep.interpreter.match.limits import Limit, start_slots
from cep.interpreter.match.logical import LogicalStage
from cep.interpreter.match.stage import Stage
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    LogicalState,
    Match,
    MatchState,
    NextState,
    StreamState,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the match: matches enter at `first` and leave at `last`.

    `stages` stand in the order in which they are set up; events visit them backwards.
    """

    first: Stage
    last: Stage
    stages: tuple[Stage, ...]

    def limit(self, state: MatchState, within_ms: int | None, both_ways: bool) -> None:
        """Bound the age of partial matches that wait inside."""
        if within_ms is not None:
            for stage in self.stages:
                stage.limits.append(Limit(start_slots(state), within_ms, both_ways))


def wire(match: Match, frame: Frame) -> tuple[Stage, ...]:
    """The stages of a match."""
    segment = _segment(match.root, frame, True)
    segment.limit(match.root, match.within_ms, frame.compat)
    if segment.first is not segment.last:
        segment.first.watched = segment.last.signal
    if isinstance(segment.first, AbsentSide):
        segment.first.is_first = True
    return segment.stages


def _segment(state: MatchState, frame: Frame, is_start: bool) -> Segment:
    match state:
        case StreamState():
            return _single(Stage(state, frame, is_start))
        case CountState():
            return _single(CountedStage(state, frame, is_start))
        case AbsentState():
            return _single(AbsentStage(state, frame, is_start))
        case LogicalState():
            return _logical(state, frame, is_start)
        case NextState():
            return _next(state, frame, is_start)
        case EveryState():
            return _every(state, frame, is_start)
        case GroupState():
            segment = _segment(state.state, frame, is_start)
            segment.limit(state.state, state.within_ms, frame.compat)
            return segment


def _single(stage: Stage) -> Segment:
    return Segment(stage, stage, (stage,))


def _next(state: NextState, frame: Frame, is_start: bool) -> Segment:
    left = _segment(state.left, frame, is_start)
    right = _segment(state.right, frame, False)
    left.last.follow(right.first)
    return Segment(left.first, right.last, left.stages + right.stages)


def _every(state: EveryState, frame: Frame, is_start: bool) -> Segment:
    segment = _segment(state.state, frame, is_start)
    segment.last.repeat(segment.first)
    for stage in segment.stages:
        stage.restart = segment.first
    return segment


def _logical(state: LogicalState, frame: Frame, is_start: bool) -> Segment:
    """What is absent stands first, however it is written; an event visits the first first."""
    left, right = state.left, state.right
    if isinstance(right, AbsentState) and not isinstance(left, AbsentState):
        left, right = right, left
    first, last = (_side(state, side, frame, is_start) for side in (left, right))
    first.join(last)
    return Segment(first, last, (last, first))


def _side(
    state: LogicalState, side: StreamState | AbsentState, frame: Frame, is_start: bool
) -> LogicalStage:
    if isinstance(side, AbsentState):
        return AbsentSide(state.op, side, frame, is_start)
    return LogicalStage(state.op, side, frame, is_start)
