"""Credentials are kept for their owner alone; passwords come from the store or from elsewhere."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

from mt5bridge.credential import CredentialError
from mt5bridge.credential_store import CredentialStore
from mt5bridge.grant import Grant, Role

posix = pytest.mark.skipif(os.name != "posix", reason="only POSIX has modes of files")
GRANT = Grant(roles=(Role.PUBLISH,), identity="demo", symbols=("EURUSD",), lots_per_order=0.5)


@pytest.fixture
def store(tmp_path: Path) -> CredentialStore:
    return CredentialStore(tmp_path / "state" / "credentials", {"SECRET": "from-outside"})


def test_it_is_kept_and_read(store: CredentialStore) -> None:
    assert store.names() == [] and store.all() == []
    store.add("desk", GRANT)
    (held,) = store.all()
    assert held.grant == GRANT and held.credential.user == "desk"
    assert len(held.credential.password) >= 43
    assert held.credential.password not in repr(held) + repr(store.read("desk"))
    store.rotate("desk")
    (after,) = store.all()
    assert after.grant == GRANT and after.credential.password != held.credential.password
    store.remove("desk")
    assert store.names() == []
    assert list(store.folder.iterdir()) == []


@posix
def test_nobody_else_can_read_it(store: CredentialStore) -> None:
    before = os.umask(0)
    try:
        store.add("desk", GRANT)
    finally:
        os.umask(before)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert store.path("desk").stat().st_mode & 0o777 == 0o600
    store.path("desk").chmod(0o640)
    with pytest.raises(CredentialError, match=r"chmod 600 .*rotate"):
        store.all()
    store.path("desk").chmod(0o600)
    store.folder.chmod(0o750)
    for use in (store.all, store.names, lambda: store.add("more", GRANT)):
        with pytest.raises(CredentialError, match="chmod 700"):
            use()


def test_a_password_from_the_environment(store: CredentialStore) -> None:
    store.add("desk", GRANT, "env:SECRET")
    assert store.held("desk").credential.password == "from-outside"
    assert "from-outside" not in store.path("desk").read_text(encoding="utf-8")
    with pytest.raises(CredentialError, match="change it there"):
        store.rotate("desk")
    for place, why in (("env:NONE", "has no password"), ("env:", "env:NAME"), ("x", "env:NAME")):
        with pytest.raises(CredentialError, match=why):
            store.add("more", GRANT, place)
    assert store.names() == ["desk"]


def test_a_password_from_the_keyring(store: CredentialStore) -> None:
    keyring = pytest.importorskip("keyring", reason="it is an extra")
    kept: dict[tuple[str, str], str] = {}
    base: Any = importlib.import_module("keyring.backend").KeyringBackend
    methods = {
        "priority": 1,
        "get_password": lambda _self, service, user: kept.get((service, user)),
        "set_password": lambda _self, service, user, word: kept.update({(service, user): word}),
    }
    before = keyring.get_keyring()
    keyring.set_keyring(type("InMemory", (base,), methods)())
    try:
        with pytest.raises(CredentialError, match="keyring:mt5cep has no password"):
            store.add("desk", GRANT, "keyring:mt5cep")
        keyring.set_password("mt5cep", "desk", "in-the-ring")
        store.add("desk", GRANT, "keyring:mt5cep")
        assert store.held("desk").credential.password == "in-the-ring"
    finally:
        keyring.set_keyring(before)


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", ".hidden", "a b", "é", "x" * 65])
def test_names_that_are_none(store: CredentialStore, name: str) -> None:
    with pytest.raises(CredentialError, match="is no name"):
        store.add(name, GRANT)


def test_one_that_is_there_or_is_not(store: CredentialStore) -> None:
    store.add("desk", GRANT)
    with pytest.raises(CredentialError, match="credential rm desk"):
        store.add("desk", GRANT)
    for use in (store.read, store.rotate, store.remove):
        with pytest.raises(CredentialError, match="no credential else; there are: desk"):
            use("else")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"grants": {}}', '{"grant": {"roles": ["root"]}}']
)
def test_a_damaged_file_names_the_remedy(store: CredentialStore, text: str) -> None:
    store.add("desk", GRANT)
    store.path("desk").write_text(text, encoding="utf-8")
    with pytest.raises(CredentialError, match=r"desk\.json: damaged .*credential rm desk"):
        store.all()
