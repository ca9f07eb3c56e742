"""A credential makes itself, once, whole and for its owner alone; a bad file says what to do."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from mt5bridge import credential as module
from mt5bridge.credential import (
    HEAD,
    USER,
    Credential,
    CredentialError,
    CredentialMissingError,
    ensure_credential,
    read_credential,
    write_credential,
)
from mt5bridge.spool.disk import Disk

GOOD = f"{HEAD}\nuser trader\npassword secret\n"
posix = pytest.mark.skipif(os.name != "posix", reason="only POSIX has modes of files")


def put(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_it_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "var" / "state" / "credential.txt"
    assert ensure_credential(path)
    made = read_credential(path)
    assert made.user == USER and len(made.password) >= 43, "256 bits in base64"
    assert not ensure_credential(path) and read_credential(path) == made
    assert ensure_credential(tmp_path / "b") and read_credential(tmp_path / "b") != made
    assert [file.name for file in path.parent.iterdir()] == ["credential.txt"]
    assert made.password not in repr(made)


@posix
def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ensure_credential(tmp_path / "state" / "credential.txt")
        write_credential(tmp_path / "state" / "copy.txt", Credential("a", "b"))
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"state": 0o700, "credential.txt": 0o600, "copy.txt": 0o600}


@posix
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o660, 0o602, 0o777])
def test_one_that_others_can_use_is_refused(tmp_path: Path, mode: int) -> None:
    path = put(tmp_path / "credential.txt", GOOD.encode(), mode)
    with pytest.raises(CredentialError, match=rf"mode {mode:o}.*run `chmod 600 {path}`"):
        read_credential(path)


def test_it_is_read_with_any_ends_of_lines(tmp_path: Path) -> None:
    for text in (GOOD, GOOD.replace("\n", "\r\n")):
        path = put(tmp_path / "credential.txt", text.encode())
        assert read_credential(path) == Credential("trader", "secret")
    spaced = Credential("my trader", "Geheimnis mit €")
    write_credential(path, spaced)
    assert read_credential(path) == spaced


def test_a_file_that_is_cut_anywhere_is_damaged(tmp_path: Path) -> None:
    for size in range(len(GOOD)):
        path = put(tmp_path / "credential.txt", GOOD.encode()[:size])
        with pytest.raises(CredentialError, match=r"empty or damaged.*delete it and run"):
            read_credential(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(80),
        b"\xff\xfe" + GOOD.encode("utf-16-le"),
        GOOD.encode().replace(b"trader", b"\xff"),
        GOOD.replace("1", "2").encode(),
        GOOD.replace("trader", "").encode(),
        GOOD.replace("secret", "").encode(),
        GOOD.replace("secret", "  ").encode(),
        GOOD.replace("secret", "sec\0ret").encode(),
        GOOD.replace("secret", "x" * 256).encode(),
        GOOD.replace("user", "name").encode(),
        GOOD.encode() + b"\n",
        GOOD.encode() * 2,
        GOOD.encode() + b"x" * 100_000,
    ],
)
def test_a_damaged_one_is_refused_with_place_and_remedy(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path / "credential.txt", content)
    with pytest.raises(CredentialError, match=r"damaged.*`mt5cep daemon --init`") as caught:
        read_credential(path)
    assert str(path) in str(caught.value)
    assert not ensure_credential(path), "what is there is never replaced by itself"


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CredentialMissingError, match=r"no such file; a daemon's first start"):
        read_credential(tmp_path / "none")
    with pytest.raises(CredentialError, match=r"directory|denied"):
        read_credential(tmp_path)


class Recorder(Disk):
    """Tells the order of what reaches the disk."""

    done: list[str]

    def sync(self, file: int) -> None:
        self.done.append("synced")
        super().sync(file)

    def sync_directory(self, directory: Path) -> None:
        self.done.append("named")
        super().sync_directory(directory)


def test_it_is_on_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Recorder.done = []
    monkeypatch.setattr(module, "Disk", Recorder)
    link = Path.hardlink_to
    monkeypatch.setattr(
        Path, "hardlink_to", lambda one, two: (Recorder.done.append("linked"), link(one, two))
    )
    ensure_credential(tmp_path / "credential.txt")
    assert Recorder.done == ["synced", "linked", "named"]


@pytest.mark.parametrize("failing", ["write_at", "sync"])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Disk, failing, full)
    with pytest.raises(OSError, match="No space"):
        ensure_credential(tmp_path / "credential.txt")
    with pytest.raises(OSError, match="No space"):
        write_credential(tmp_path / "credential.txt", Credential("a", "b"))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_without_links_gets_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert ensure_credential(tmp_path / "credential.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["credential.txt"]
    assert read_credential(tmp_path / "credential.txt").user == USER


def test_many_that_start_at_once_agree(tmp_path: Path) -> None:
    path, found = tmp_path / "credential.txt", []

    def start() -> None:
        ensure_credential(path)
        found.append(read_credential(path))

    threads = [threading.Thread(target=start) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16 and len(set(found)) == 1
    assert list(tmp_path.iterdir()) == [path]
