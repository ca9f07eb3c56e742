"""Settings of the server and what is refused for safety."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mt5bridge.aliases import AliasTable
from mt5bridge.credential import credential_fault
from mt5bridge.grant import ANYTHING, Grant
from mt5bridge.server.batch import owner_of
from mt5bridge.wire import SYMBOLS_MAX, Hello

PORT_MAX = 65_535


class BindError(ValueError):
    """An address that cannot be listened on."""


class UnsafeBindError(BindError):
    """A bind address that other machines reach, over a connection that is not encrypted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server listens and how patient it is; times in milliseconds."""

    bind: str = "tcp://127.0.0.1:5655"
    heartbeat_ms: int = 1_000
    timeout_ms: int = 5_000
    resend_after_ms: int = 500
    window_records: int = 65_536  # unacknowledged ticks a terminal may have under way
    ahead_max_ms: int = 86_400_000  # records further ahead of this machine's clock are far
    terminals_max: int = 64
    identities_max: int = 10_000  # that have ever left something to remember
    symbols_max: int = 10_000  # per terminal
    streams_max: int = 131_072  # of all terminals: each segment of the spool begins with them
    signals_max: int = 10_000  # per terminal, without a final result
    events_max: int = 10_000  # complex events kept for terminals that come back or are slow
    frames_queued_max: int = 256  # per connection, each way
    connections_max: int = 1_024  # let in or not
    message_mib_max: int = 64  # that a connection may hold of messages that are not whole
    passwords: dict[str, str] = field(default_factory=dict, repr=False)  # user to password: needed
    grants: dict[str, Grant] = field(default_factory=dict)  # by user; who is not named may anything
    curve_bind: str = ""  # for connections by CURVE; empty: none
    curve_secret: str = field(default="", repr=False)  # the daemon's key
    curve_keys: dict[str, str] = field(default_factory=dict)  # user to public key
    allow_plain: bool = True  # passwords may come in the clear, of programs that do not prove them
    allow_insecure: bool = False  # may be bound where others reach it; they need a password too
    aliases: AliasTable = field(default_factory=AliasTable)  # symbols that have other names here
    program: str = "mt5bridge"

    def grant_of(self, user: str) -> Grant:
        """What a user may do."""
        return self.grants.get(user, ANYTHING)

    def secrets_of(self, user: str) -> tuple[str | None, str | None]:
        """What a user comes with: a password, a key of CURVE."""
        return self.passwords.get(user), self.curve_keys.get(user)

    def refuses_hello(self, user: str, hello: Hello) -> str:
        """Why a user may not come as this terminal; empty if it may.

        Nobody speaks for an account that a credential names but who has one that names it.
        """
        own = self.grant_of(user)
        if refusal := own.refuses_hello(hello):
            return refusal
        if own.names_account(hello) or not any(
            grant.names_account(hello) for grant in self.grants.values()
        ):
            return ""
        account = owner_of(hello)
        return f"account {account} is another credential's: come with that, or name it in this one"

    def check(self) -> None:
        """UnsafeBindError or ValueError, with the remedy, when the settings cannot be used."""
        for name in (
            "heartbeat_ms",
            "resend_after_ms",
            "window_records",
            "terminals_max",
            "identities_max",
            "frames_queued_max",
            "streams_max",
            "signals_max",
            "events_max",
            "connections_max",
            "message_mib_max",
            "ahead_max_ms",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: use 1 or more")
        if not 1 <= self.symbols_max <= SYMBOLS_MAX:
            raise ValueError(f"symbols_max = {self.symbols_max}: use 1 to {SYMBOLS_MAX}")
        if self.timeout_ms < 2 * self.heartbeat_ms:
            raise ValueError(
                f"timeout_ms = {self.timeout_ms}: use at least twice heartbeat_ms"
                f" ({self.heartbeat_ms})"
            )
        self._check_passwords()
        for address in filter(None, (self.bind, self.curve_bind)):
            if _has_port(address):
                continue
            raise BindError(
                f"{address!r} is no address with a port: write tcp://127.0.0.1:PORT, and use 1 to "
                f"{PORT_MAX}, or `*` for a free one"
            )
        if not (self.allow_insecure or is_loopback(self.bind)):
            raise UnsafeBindError(
                f"{self.bind} can be reached from other machines, and the connection is not "
                "encrypted: whoever listens in on it reads the password, and can trade. Bind "
                "tcp://127.0.0.1:PORT and let a tunnel lead there, or set allow_insecure if only a "
                "tunnel leads to the address; passwords are asked for all the same"
            )

    def _check_passwords(self) -> None:
        if not self.passwords:
            raise ValueError("no passwords: nobody could be let in; name a user and a password")
        for user, password in self.passwords.items():
            if fault := credential_fault(user, password):
                raise ValueError(f"passwords: {fault}")


def more_streams(settings: Settings) -> str:
    """What is said to who needs a stream where there is no room for one."""
    most = settings.streams_max
    return f"more than {most} streams of all terminals: archive the spool and begin a new one"


def _has_port(address: str) -> bool:
    """Whether a TCP address names a port; ZeroMQ takes the lower 16 bits of any number."""
    if not address.startswith("tcp://"):
        return len(address) > len("ipc://") and address.startswith("ipc://")
    port = address.rpartition(":")[2]
    return port == "*" or (port.isascii() and port.isdigit() and 1 <= int(port) <= PORT_MAX)


def is_loopback(address: str) -> bool:
    """Whether a ZeroMQ address is reachable from this machine only."""
    parts = urlsplit(address)
    if parts.scheme == "ipc":
        return True
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
