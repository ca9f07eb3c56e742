"""What is wrong with a database or its tables is said before anything is done."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from cep.database.check import check_database
from cep.database.drivers import connect, postgresql
from cep.database.errors import DatabaseError, EventError
from cep.database.runner import Options, Runner
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Event
from cep.plan import compile_rules
from tests.database.runs import OUTPUTS, catalog, events, native, pushed, started
from tests.database.servers import PostgresqlServer


@pytest.fixture
def file_url(url: str, tmp_path: Path) -> str:
    """A database that outlives a connection, of each kind in turn."""
    return f"{url}/{tmp_path / 'events.db'}" if url.endswith("://") else url


@pytest.mark.parametrize(
    "prefix", ["", "x; DROP TABLE users", 'a"b', "Upper_", "1_", "a-b", "a" * 21, "é_"]
)
def test_a_prefix_that_is_none_is_refused(prefix: str) -> None:
    with pytest.raises(DatabaseError, match="is no prefix of tables: use a small letter"):
        DatabaseProvider("sqlite://", prefix=prefix)


def test_two_runs_with_one_prefix_are_refused(
    file_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "CLAIM_WAIT_S", 0.05)
    first = started(connect(file_url), prefix="one_")
    with pytest.raises(DatabaseError, match=r"another run uses the tables `one_\.\.`"):
        started(connect(file_url), prefix="one_")
    second = started(connect(file_url), prefix="two_")
    some = events(60)
    assert pushed(first, some) == pushed(second, some) == native(catalog().plan(), some)
    for run in (first, second):
        run.close()
    again = started(connect(file_url), prefix="one_")
    assert again.progress.seq == 60
    again.close()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_is_the_same_by_another_name(kind: str, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.symlink_to(tmp_path / "events.db")
    run = started(connect(f"{kind}:///{tmp_path / 'events.db'}"))
    with pytest.raises(DatabaseError, match="another run uses the tables"):
        started(connect(f"{kind}:///{other}"))
    run.close()


def test_tables_of_a_newer_version_are_left_alone(file_url: str) -> None:
    started(connect(file_url)).close()
    driver = connect(file_url)
    ((plan,),) = driver.fetch("SELECT plan FROM mt5cep_progress")
    newer = str(plan).replace('"version":1', '"version":2')
    progress = sa.table("mt5cep_progress", sa.column("plan"))
    driver.execute(*driver.dialect.text(sa.update(progress).values(plan=newer)))
    driver.close()
    with pytest.raises(DatabaseError, match="of version 2, this program makes version 1"):
        started(connect(file_url))


def test_tables_of_another_kind_of_run_are_left_alone(file_url: str) -> None:
    run = started(connect(file_url))
    pushed(run, events(20))
    run.close()
    with pytest.raises(DatabaseError, match="are those of a processor, and this is a daemon"):
        check_database(file_url, "mt5cep_", durable=False)
    run = started(connect(file_url))
    assert run.progress.seq == 20
    run.close()


def test_a_user_without_rights_is_told_what_is_missing(
    postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = connect(postgresql_server.url)
    driver.execute("DROP ROLE IF EXISTS guest")
    driver.execute("CREATE ROLE guest LOGIN")
    driver.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    driver.close()
    url = postgresql_server.url.replace("postgres@", "guest@")
    with pytest.raises(DatabaseError, match=r"permission denied .*grant its user CREATE"):
        check_database(url, "mt5cep_", durable=False)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("nonsense", "is no URL of a database; write sqlite:///file"),
        ("oracle://x", "there is no driver for `oracle`; write"),
        ("sqlite:////no/such/folder/e.db", "its folder must exist and be writable"),
        ("postgresql://u@127.0.0.1:1/x", "cannot be reached; start it, or correct the URL"),
    ],
)
def test_a_wrong_url_is_explained(url: str, text: str) -> None:
    with pytest.raises(DatabaseError, match=text):
        check_database(url, "mt5cep_", durable=False)


def test_a_database_that_is_not_there_is_named(postgresql_server: PostgresqlServer) -> None:
    with pytest.raises(DatabaseError, match=r'let us in.*"nowhere" does not exist; correct'):
        check_database(postgresql_server.url_of("nowhere"), "mt5cep_", durable=False)


def test_a_plan_in_siddhis_mode_is_refused_by_name() -> None:
    text = (
        "@app:compat('siddhi') define stream S (a int);\n"
        "@info(name='q') from S[a > 1] select a insert into Out;"
    )
    run = Runner(connect("sqlite://"), Options())
    with pytest.raises(DatabaseError, match="does not run q: notimpl: Siddhi's own ways"):
        run.change(compile_rules(text, "t"), ["Out"])
    run.change(catalog().plan(), OUTPUTS)
    assert pushed(run, events(20)) == native(catalog().plan(), events(20))
    run.close()


def test_a_table_of_yours_is_not_touched(file_url: str) -> None:
    table = sa.Table("mt5cep_s_s", sa.MetaData(), sa.Column("mine", sa.Text()))
    driver = connect(file_url)
    driver.execute(*driver.dialect.text(sa.schema.CreateTable(table)))
    driver.execute(*driver.dialect.text(sa.insert(table).values(mine="precious")))
    run = Runner(connect(file_url))
    with pytest.raises(DatabaseError, match="already exists"):
        run.change(catalog().plan(), OUTPUTS)
    run.close()
    ((mine,),) = driver.fetch(*driver.dialect.text(sa.select(table)))
    assert str(mine) == "precious"
    driver.close()


def test_a_run_that_becomes_durable_has_tables_that_a_crash_leaves(
    postgresql_server: PostgresqlServer,
) -> None:
    check_database(postgresql_server.url, "kept_", durable=False)
    run = started(connect(postgresql_server.url, durable=True), prefix="kept_", is_durable=True)
    asked = "SELECT DISTINCT relpersistence::text FROM pg_class WHERE relname LIKE 'kept_%%'"
    (kinds,) = run._driver.fetch(asked)
    assert list(kinds) == ["p"]
    run.clear()
    run.close()


@pytest.mark.parametrize(
    ("text", "says"),
    [("a\0b", "s.k: not string: a text with a NUL"), ("\ud800", "s.k: not string: .*surrogates")],
)
def test_a_text_that_no_database_keeps_is_refused(text: str, says: str) -> None:
    run = started(connect("sqlite://"))
    with pytest.raises(EventError, match=says):
        pushed(run, [Event("s", 1, (1, text))])
    assert run.progress.seq == 0
    run.close()
