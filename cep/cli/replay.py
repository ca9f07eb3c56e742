"""`mt5cep replay`: a deterministic offline run over files."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from cep.cli.errors import UserError, extra
from cep.cli.functions import FUNCTIONS
from cep.cli.moments import MOMENT, utc_msc
from cep.cli.output import output
from cep.cli.parameters import MAGIC, PARAMETERS
from cep.cli.paths import FILE
from cep.cli.progress import progress
from cep.cli.rules import RULES, read_rules
from cep.cli.summary import note, tell_dropped
from cep.cli.text import say
from cep.dropped import Dropped
from cep.plan import Plan, compile_rules
from mt5bridge.local import local

LATE = (
    "{count} rows were older than one before them: while such rows are there, the database is asked"
    " for the own time of each, which takes longer"
)


@click.command()
@click.argument("rules", type=RULES)
@FUNCTIONS
@PARAMETERS
@MAGIC
@click.option(
    "--input", "inputs", multiple=True, required=True, metavar="STREAM=FILE",
    help="Rows of a source stream: CSV, JSONL or Parquet with a column time_msc. Repeat it.",
)  # fmt: skip
@click.option(
    "--backend", type=click.Choice(["native", "reference", "database", "spark"]), default="native",
    show_default=True,
    help="What runs the rules; reference is the slow interpreter that says what they mean, "
    "spark runs keys in parallel, database needs --url.",
)  # fmt: skip
@click.option(
    "--url", metavar="URL",
    help="The database: sqlite://, duckdb:///file, postgresql://user:password@host:port/name.",
)  # fmt: skip
@click.option(
    "--until", type=MOMENT,
    help="At the end let time pass to this moment, UTC: what is due by then happens.",
)  # fmt: skip
@click.option("--out", type=FILE, help="Write JSON lines here instead of to standard output (-).")
@click.option("--streams", metavar="A,B", help="Only rows of these streams (default: all).")
@click.option("--callback", type=FILE, help="A Python file with an EventsCallback subclass.")
@click.option(
    "--plain", is_flag=True, help="Run the generated Python without Numba, for debugging."
)
@click.option(
    "--trace", metavar="KEY",
    help="Print why rules did or did not fire for this key (- for rules without a key) instead.",
)  # fmt: skip
@click.option(
    "--rule", "names", multiple=True, metavar="NAME",
    help="With --trace: only this rule (default: all). Repeat it.",
)  # fmt: skip
def command(
    rules: Path,
    parameters: dict[str, str],
    magic: int | None,
    inputs: tuple[str, ...],
    backend: str,
    url: str | None,
    until: datetime | None,
    out: Path | None,
    streams: str | None,
    callback: Path | None,
    plain: bool,
    trace: str | None,
    names: tuple[str, ...],
) -> None:
    """Run RULES over recorded rows and print one JSON object per output row.

    With --trace print instead, for each input row that touches a rule, what the rule made of it:
    which condition failed, what was queued, missing, too old, bound or forbidden.
    """
    if names and trace is None:
        raise UserError("--rule says what --trace is about", "add --trace KEY")
    if trace is not None:
        _check_trace(backend, streams, callback)
    if (backend == "database") != (url is not None):
        raise UserError("--backend database and --url belong together", "for example sqlite://")
    if backend != "native" and callback:
        raise UserError("--callback needs --backend native", "leave one of them out")
    if backend == "reference" and plain:
        raise UserError("--plain is about --backend native", "the reference generates no code")
    plan = compile_rules(*read_rules(rules, parameters), magic=magic)
    files, outputs = [_input(text) for text in inputs], wanted(plan, streams)
    if trace is not None:
        run_trace(plan, files, out, trace, names, utc_msc(until))
    elif url is not None:
        run_on_database(plan, files, out, outputs, plain, utc_msc(until), url)
    elif backend == "reference":
        run_reference(plan, files, out, outputs, utc_msc(until))
    elif backend == "spark":
        run_on_spark(plan, files, out, outputs, plain, utc_msc(until))
    else:
        run_replay(plan, files, out, outputs, callback, plain, utc_msc(until))


def run_replay(
    plan: Plan,
    files: list[tuple[str, Path]],
    out: Path | None,
    outputs: list[str] | None,
    callback: Path | None,
    plain: bool,
    until_msc: int | None,
) -> None:
    """Read, run, write."""
    # Imported here: Numba costs a second that `--help` need not wait.
    from cep.callbacks import Delivery, load_callback
    from cep.engine.native import Compiled
    from cep.replay import read_sources, replay

    sources = read_sources(plan, files, note)
    delivery = Delivery(plan, load_callback(callback)) if callback else None
    compiled = Compiled(plan, outputs=outputs, jit=not plain, waits=False)
    total = sum(len(source.order) for source in sources)
    dropped: list[Dropped] = []
    with output(out) as sink, progress("replay", total) as bar:
        for rows in replay(compiled, sources, bar.advance, delivery, until_msc, dropped.append):
            sink.writelines(line + b"\n" for line in rows.json_lines())
    tell_dropped(*dropped)
    if delivery is not None and delivery.failures:
        raise UserError(f"EventsCallback failed on {delivery.failures} rows", "see the log above")


def run_reference(
    plan: Plan,
    files: list[tuple[str, Path]],
    out: Path | None,
    outputs: list[str] | None,
    until_msc: int | None,
) -> None:
    """The whole rule file in the interpreter."""
    # Imported here: Arrow costs a second that `--help` need not wait.
    from cep.engine.lines import encode
    from cep.interpreter.run import InterpretedRun
    from cep.replay import read_sources, replay_interpreted

    sources = read_sources(plan, files, note)
    run = InterpretedRun(plan, outputs)
    total = sum(len(source.order) for source in sources)
    with output(out) as sink, progress("replay", total) as bar:
        for rows in replay_interpreted(run, sources, bar.advance, until_msc):
            sink.writelines(encode(row) + b"\n" for row in rows)
    tell_dropped(run.dropped)


def run_on_database(
    plan: Plan,
    files: list[tuple[str, Path]],
    out: Path | None,
    outputs: list[str] | None,
    plain: bool,
    until_msc: int | None,
    url: str,
) -> None:
    """The queries on a database, the rest on our engine behind it."""
    # Imported here: databases are an extra.
    with extra("database"):
        from cep.fragments.replay import DatabaseReplay
    from cep.replay import read_sources

    sources = read_sources(plan, files, note)
    total = sum(len(source.order) for source in sources)
    run = DatabaseReplay(plan, url, outputs, jit=not plain)
    with closing(run), output(out) as sink, progress("replay", total) as bar:
        for lines in run.replay(sources, bar.advance, until_msc):
            sink.writelines(line + b"\n" for line in lines)
        if run.late:
            say(LATE.format(count=run.late), err=True)
        tell_dropped(run.dropped)


def run_trace(
    plan: Plan,
    files: list[tuple[str, Path]],
    out: Path | None,
    key: str,
    names: tuple[str, ...],
    until_msc: int | None,
) -> None:
    """Explain a run, row by row, for one key."""
    # Imported here: Numba costs a second that `--help` need not wait.
    from cep.replay import read_sources
    from cep.trace import Scope, traced

    scope, sources = Scope(plan, key, names), read_sources(plan, files, note)
    total = sum(len(source.order) for source in sources)
    dropped: list[Dropped] = []
    with output(out) as sink, progress("trace", total) as bar:
        for line in traced(plan, scope, sources, bar.advance, until_msc, dropped.append):
            sink.write(f"{line}\n".encode())
    tell_dropped(*dropped)


def _check_trace(backend: str, streams: str | None, callback: Path | None) -> None:
    """UserError for options that a trace cannot go with."""
    if backend != "native":
        raise UserError(f"--trace needs --backend native, not {backend}", "leave --backend out")
    if callback is not None:
        raise UserError("--trace runs no --callback", "leave one of them out")
    if streams is not None:
        raise UserError("--trace prints no rows, so --streams means nothing", "name rules: --rule")


def run_on_spark(
    plan: Plan,
    files: list[tuple[str, Path]],
    out: Path | None,
    outputs: list[str] | None,
    plain: bool,
    until_msc: int | None,
) -> None:
    """The same on a local Spark, a key at a time."""
    # Imported here: Spark is an extra, and takes seconds to start.
    from cep.engine.native import Compiled
    from cep.replay import read_sources

    with extra("spark"):
        from cep.spark.replay import replay_on_spark
        from cep.spark.session import session

    sources = read_sources(plan, files, note)
    compiled = Compiled(plan, outputs=outputs, jit=not plain)
    dropped: list[Dropped] = []
    with session() as spark, TemporaryDirectory() as folder, output(out) as sink:
        place, told = Path(folder), dropped.append
        for rows in replay_on_spark(spark, compiled, sources, place, until_msc, told):
            sink.writelines(line + b"\n" for line in rows.json_lines())
    tell_dropped(*dropped)


def wanted(plan: Plan, streams: str | None) -> list[str] | None:
    """The streams named by `--streams`; UserError for one the rules do not make."""
    if streams is None:
        return None
    derived = [stream.name for stream in plan.streams if stream.name in plan.derived]
    names = [name.strip() for name in streams.split(",") if name.strip()]
    for name in names:
        if name not in derived:
            raise UserError(f"--streams: no stream {name}", f"the rules make {', '.join(derived)}")
    return names


def _input(text: str) -> tuple[str, Path]:
    stream, found, path = text.partition("=")
    if not found or not stream or not path:
        raise UserError(f"--input {text}: not STREAM=FILE", "for example --input Tick=ticks.csv")
    return stream.strip(), local(path.strip())
