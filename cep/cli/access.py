"""Which daemon a client means, and the credential that it is let in with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from cep.cli.errors import UserError
from cep.cli.settings_file import found_settings
from cep.live.config import Config, credential_path, read_config
from mt5bridge.credential import USER, Credential, CredentialError, read_copy, read_credential
from mt5bridge.curve import CurveIdentity, is_identity, read_identity

PASSWORD = "MT5CEP_PASSWORD"
ADDRESS = "tcp://127.0.0.1:5655"
_ADDRESS = re.compile(r"ipc://.+|tcp://[^\s/]+:(?P<port>[0-9]{1,5})")
PORT_MAX = 65_535
_EVERYWHERE = {"*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]"}


class Access(NamedTuple):
    """An address to connect to, and as whom."""

    address: str
    credential: Credential | CurveIdentity


def access(
    connect: str | None, config: Path | None, credential: Path | None, user: str | None
) -> Access:
    """What the options mean; `connect` alone is an address, the others say as whom.

    A file with a credential stands over a user, whose password is in the environment (a command
    line can be seen by others), and that over the settings. UserError when nothing says it.
    """
    if connect is not None and not is_address(connect):
        raise UserError(f"--connect {connect}: no address", f"write it as {ADDRESS}")
    says_all = connect is not None and (credential is not None or user is not None)
    path = config if says_all else found_settings(config)
    settings = read_config(path) if path is not None else None
    bound = reachable(settings.server.bind) if settings is not None else ADDRESS
    return Access(connect or bound, _credential(config, credential, user, settings))


def reachable(bind: str) -> str:
    """The address for clients on this machine of one that may be bound on all its networks."""
    scheme, _, rest = bind.partition("://")
    host, _, port = rest.rpartition(":")
    return f"{scheme}://{_EVERYWHERE[host]}:{port}" if host in _EVERYWHERE else bind


def is_address(text: str) -> bool:
    """Whether it is tcp://HOST:PORT with a port that there is, or ipc://PATH."""
    found = _ADDRESS.fullmatch(text)
    return found is not None and 0 < int(found["port"] or 1) <= PORT_MAX


def _credential(
    config: Path | None, file: Path | None, user: str | None, settings: Config | None
) -> Credential | CurveIdentity:
    password = os.environ.get(PASSWORD, "")
    if file is not None:
        return read_identity(file) if is_identity(file) else read_copy(file)
    if user is not None or (password and config is None):
        if not password:
            raise UserError(f"no password for the user {user}", f"set it in {PASSWORD}")
        return Credential(user or USER, password)
    if settings is None:
        raise UserError(
            "no credential: the daemon lets nobody in without one",
            f"name the daemon's settings with --config, its credential with --credential, or set "
            f"{PASSWORD}",
        )
    try:
        return read_credential(credential_path(settings))
    except CredentialError as problem:
        hint = "is this the daemon's settings file? Name it with --config"
        raise UserError(str(problem), hint) from None
