"""A replay with the queries on a database: each stream has the rows of our engine alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack

from cep.database.drivers import connect
from cep.database.runner import Options, Runner
from cep.dropped import Dropped
from cep.engine.divided import Divided
from cep.engine.lines import encode
from cep.engine.native import Compiled
from cep.engine.rows import Row
from cep.fragments.exchange import Fragments, merged
from cep.fragments.rows import StreamRows
from cep.fragments.split import split
from cep.plan.nodes import Plan
from cep.replay import BATCH_ROWS, Source, end_msc, slices

PREFIX = "mt5cep_replay_"


class DatabaseReplay:
    """A plan on a database and our engine, for one replay; empty at the start and at the end."""

    def __init__(
        self,
        plan: Plan,
        url: str,
        outputs: Collection[str] | None = None,
        *,
        jit: bool = True,
        batch_events: int | None = None,
    ) -> None:
        driver = connect(url)
        options = Options(
            PREFIX, batch_events=batch_events, may_restart=False, owner="replay", takes_late=True
        )
        self._runner = Runner(driver, options)
        wanted = plan.derived if outputs is None else frozenset(outputs)
        with ExitStack() as undone:
            undone.callback(self.close)  # whatever cannot run leaves the database to the next
            self._runner.clear()
            self._fragments = self._made(plan, split(plan, driver.dialect), wanted, jit=jit)
            undone.pop_all()

    def _made(self, plan: Plan, found: Divided, wanted: frozenset[str], *, jit: bool) -> Fragments:
        self._runner.change(found.front, found.passed | (wanted & found.front.made))
        rest = found.rest
        run = Compiled(rest, outputs=wanted & rest.made, jit=jit, waits=False)
        return Fragments(plan, found, self._runner, run.start(mode="sorted"), wanted)

    @property
    def late(self) -> int:
        """How many rows were older than one before them."""
        return self._fragments.late

    @property
    def dropped(self) -> Dropped:
        """What our engine has dropped so far; a database drops nothing."""
        return self._fragments.run.dropped

    def replay(
        self,
        sources: Sequence[Source],
        advance: Callable[[int], None] = lambda n: None,
        until_msc: int | None = None,
    ) -> Iterator[list[bytes]]:
        """Run the plan over the sources: output lines, as those of our engine alone, by batches."""
        for batch in slices(sources, BATCH_ROWS):
            yield [encode(row) for row in self._batch(batch)]
            advance(sum(len(source.order) for source in batch))
        if (ended_msc := end_msc(sources, until_msc)) is not None:
            yield list(self._fragments.run.end(ended_msc).json_lines())

    def close(self) -> None:
        """Leave nothing in the database."""
        self._runner.clear()
        self._runner.close()

    def _batch(self, sources: Sequence[Source]) -> list[Row]:
        rows = [part_of(one) for one in sources]
        made = self._fragments.front(rows)
        lines = merged(self._fragments.lines(made), self._fragments.behind(rows, made))
        return [row for _, row in lines]


def part_of(source: Source) -> StreamRows:
    """The rows of a source, at their places in the order of all."""
    columns = {name: source.table[name] for name in source.stream.schema.names}
    times = source.table["time_msc"].to_numpy()
    return StreamRows(source.stream.name, source.order, times, columns)
