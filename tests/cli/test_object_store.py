"""Archives in object stores on the command line, and every address that is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.archive import Archive, ArchiveError
from cep.archive.remote import remote_at
from cep.cli import main
from cep.live.config import ConfigError, read_config
from mt5bridge.local import AddressError
from tests.cli.test_places import lay_out
from tests.object_store import BUCKET, KEYS, ObjectStore, object_store

TICKS = "time_msc,bid,ask\n1709280000000,1.1,1.2\n1709280001000,1.1,1.2\n"
SECRETS = [
    "s3://key:hush@bucket/x", "s3://key:hu/sh@bucket/x", "s3://hush@bucket/x",
    "s3://bucket/x?secret_key=hush", "gs://:hush@bucket/x", "abfs://:hush@account/x",
    "abfs://box@account.dfs.core.windows.net/x?client_secret=hush", "ftp://a:hush@host/x",
]  # fmt: skip
READING = [
    "archive ls {}", "archive verify {}", "archive doctor {}", "backtest a.cep --archive {}",
    "sweep a.cep --archive {}", "walkforward a.cep --archive {} --train 1d --test 1d",
    "stress a.cep --archive {}", "lookahead a.cep --archive {}",
]  # fmt: skip
WRITING = [
    "archive import {} ticks.csv --symbol A", "archive ingest empty {}", "archive compact {}",
    "archive doctor {} --mark", "archive publish {} s3://bucket/y",
]  # fmt: skip


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as found:
        yield found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and an archive."""
    lay_out(tmp_path, monkeypatch, TICKS)
    assert run("archive import archive ticks.csv --symbol A").exit_code == 0
    return tmp_path


def run(command: str, *places: str) -> Result:
    return CliRunner().invoke(main, command.format(*places).split())


def refused(command: str, *places: str) -> str:
    result = run(command, *places)
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


def test_an_archive_is_published_and_read(here: Path, store: ObjectStore) -> None:
    address = store.new()
    first = run("archive publish archive {}", address)
    assert first.stdout == "1 file of 0.0 MB copied, 0 there already\n", first.output
    again = run("archive publish archive {} --jobs 1", address)
    assert again.stdout == "0 files of 0.0 MB copied, 1 there already\n", again.output
    for command in READING[:3]:
        there = run(command, address)
        assert there.exit_code == 0, there.output
        assert there.stdout == run(command, "archive").stdout != ""


def test_an_endpoint_may_be_in_the_environment(
    here: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{store.host}")
    address = store.new().partition("?")[0]
    assert run("archive publish archive {}", address).exit_code == 0
    assert run("archive verify {}/", address).stdout.endswith("each record once, in order\n")


def test_files_that_are_removed_are_told(here: Path, store: ObjectStore) -> None:
    address = store.new()
    Path("more.csv").write_text(TICKS.replace("17092800", "17092801"))
    assert run("archive import archive more.csv --symbol A").exit_code == 0
    assert run("archive publish archive {}", address).exit_code == 0
    assert run("archive compact archive").exit_code == 0
    assert "removed" not in run("archive publish archive {}", address).stdout
    assert "2 files removed" in run("archive publish archive {}", address).stdout


@pytest.mark.parametrize("command", WRITING)
def test_archives_are_written_to_folders(here: Path, command: str) -> None:
    before = sorted(here.rglob("*"))
    told = refused(command, "s3://bucket/x")
    assert "s3://bucket/x is an address, not a path" in told and "archive publish" in told
    assert sorted(here.rglob("*")) == before


def test_a_daemon_archives_into_a_folder(here: Path) -> None:
    Path("daemon.toml").write_text(
        '[rules]\nfile = "a.cep"\n[archive]\nfolder = "s3://bucket/x"\n', encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"`archive.folder`: .*archive publish"):
        read_config(here / "daemon.toml")


@pytest.mark.parametrize("address", SECRETS)
@pytest.mark.parametrize("command", [READING[0], READING[3], WRITING[0], "archive publish {} x"])
def test_secrets_in_addresses_are_not_told(here: Path, command: str, address: str) -> None:
    told = refused(command, address)
    assert "hush" not in told
    if command in READING and not address.startswith("ftp"):
        assert "a secret in an address gets into logs" in told and "set " in told


@pytest.mark.parametrize("command", READING)
def test_what_is_no_archive_is_named(here: Path, store: ObjectStore, command: str) -> None:
    address = store.new()
    told = refused(command, address)
    assert f"{address.partition('?')[0]}: no archive here; check the address" in told
    missing = refused(command, address.replace(BUCKET, "missing", 1))
    assert "s3://missing/" in missing and "no bucket missing" in missing


def test_publishing_into_no_bucket_is_refused(here: Path, store: ObjectStore) -> None:
    told = refused("archive publish archive {}", store.new().replace(BUCKET, "missing", 1))
    assert "NO_SUCH_BUCKET" in told and "make it first" in told


def test_who_may_not_read_is_told_how(
    here: Path, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = store.new()
    assert run("archive publish archive {}", address).exit_code == 0
    with store.strict():
        for command in ("archive ls {}", "archive publish archive {}"):
            told = refused(command, f"{address}&tls_verify_certificates=true")
            assert "AWS Error" in told and "AWS_ACCESS_KEY_ID" in told
            assert KEYS["AWS_SECRET_ACCESS_KEY"] not in told


def test_a_store_that_is_not_reached_is_named() -> None:
    away = "s3://bucket/x?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1"
    told = refused("archive ls {}", away)
    assert "s3://bucket/x/manifest.jsonl: " in told and "endpoint_override=HOST:PORT" in told


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ftp://host/x", "no known store; there are s3, gs, gcs, abfs, abfss, hdfs"),
        ("s3:/bucket/x", "two slashes"),
        ("s3://", "no bucket; write it such as s3://bucket/ticks"),
        ("file:///tmp/x", "leave out file://"),
    ],
)
def test_other_addresses_are_refused(here: Path, address: str, message: str) -> None:
    assert message in refused("archive ls {}", address)
    with pytest.raises(AddressError, match=message.partition(";")[0]):
        Archive(address)
    with pytest.raises(AddressError):
        Archive(Path("s3://bucket/x"))


def test_options_of_an_address_that_are_none_are_told(here: Path) -> None:
    assert "'zzz'" in refused("archive ls {}", "s3://bucket/x?zzz=1&region=x")


def test_a_path_is_no_place_to_publish_to(here: Path) -> None:
    assert "there is no address" in refused("archive publish archive there")


def test_hadoop_without_java_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAVA_HOME", "HADOOP_HOME"):
        monkeypatch.setenv(name, "/none")
    with pytest.raises(ArchiveError, match=r"^hdfs://host:9000/x: .*JAVA_HOME"):
        remote_at("hdfs://host:9000/x").read("manifest.jsonl")
