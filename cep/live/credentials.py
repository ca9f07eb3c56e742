"""Who is let in: the daemon's own credential, the users of its settings, and the credential store.

The store is looked at about once a second, so that `mt5cep credential` counts at once.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
from loguru import logger

from cep.live.config import Config, ConfigError, credential_path
from mt5bridge.aliases import alias_table
from mt5bridge.clock import Now
from mt5bridge.credential import USER, Credential, CredentialError, read_credential
from mt5bridge.credential_store import FOLDER, CredentialStore
from mt5bridge.curve import daemon_keys
from mt5bridge.grant import Grant
from mt5bridge.server import Server, Settings

EVERY_MS = 1_000


class Admitted(msgspec.Struct, frozen=True):
    """Who may come, and what of it they may do; who has no grant may do anything."""

    passwords: dict[str, str]
    grants: dict[str, Grant]
    curve_keys: dict[str, str]

    def __repr__(self) -> str:
        return f"Admitted({sorted(self.passwords)})"


def store_of(config: Config) -> CredentialStore:
    """The credentials beside the daemon's own."""
    return CredentialStore(config.state.folder / FOLDER)


def admitted(config: Config, own: Credential) -> Admitted:
    """All that are let in. CredentialError or ConfigError when one of them cannot be used."""
    users = config.server.users
    store = store_of(config)
    kept = store.all()
    for held in kept:
        name = held.credential.user
        if name in users or name == USER:
            raise ConfigError(
                f"{store.path(name)}: {name} is a user of the settings, or the daemon's own, too; "
                f"take it out of [server] users, or run `mt5cep credential rm {name}`"
            )
    others = {held.credential.user: held.credential.password for held in kept}
    return Admitted(
        {**users, **others, own.user: own.password},
        {held.credential.user: held.grant for held in kept},
        {held.credential.user: held.curve_key for held in kept if held.curve_key},
    )


def settings_for(config: Config, own: Credential, found: Admitted) -> Settings:
    """The server's settings for plain connections, with all that are let in."""
    settings = config.server.settings(own, found.passwords, found.grants)
    return replace(settings, aliases=alias_table(config.aliases))


def server_settings(config: Config) -> Settings:
    """The server's settings, with all that are let in. CredentialError, ConfigError."""
    own = read_credential(credential_path(config))
    found = admitted(config, own)
    settings = settings_for(config, own, found)
    if not config.server.curve_bind:
        return settings
    keys = daemon_keys(config.state.folder)
    return replace(
        settings,
        curve_bind=config.server.curve_bind,
        curve_secret=keys.secret,
        curve_keys=found.curve_keys,
    )


class CredentialWatch:
    """Gives a server what has changed in the store; belongs to the server's thread.

    What cannot be used is told, and whoever was let in before stays.
    """

    def __init__(self, config: Config, server: Server) -> None:
        self._config, self._server = config, server
        self._folder = store_of(config).folder
        self._next_ms = 0
        self._seen = _changed_ns(self._folder)

    def look(self, now: Now) -> None:
        """To be called often."""
        if now.ms < self._next_ms:
            return
        self._next_ms = now.ms + EVERY_MS
        found = _changed_ns(self._folder)
        if found != self._seen:
            self._seen = found
            self._read()

    def _read(self) -> None:
        try:
            found = server_settings(self._config)
        except (CredentialError, ConfigError, OSError) as problem:
            logger.error("{}; those let in before stay", problem)
            return
        logger.info("credentials taken over: {}", ", ".join(sorted(found.passwords)))
        self._server.change_credentials(found)


def _changed_ns(folder: Path) -> int:
    """When a file came to a folder or left it; 0 where there is no folder."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0
