"""`mt5cep credential`: who may do what at the daemon."""

from __future__ import annotations

import json
from pathlib import Path

import click
import msgspec

from cep.cli.errors import UserError
from cep.cli.groups import Commands
from cep.cli.numbers import LOTS
from cep.cli.orders import JSON
from cep.cli.paths import FILE
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import aligned, say
from cep.live.config import read_config
from cep.live.credentials import store_of
from mt5bridge.credential import USER, write_credential
from mt5bridge.credential_store import Kept
from mt5bridge.curve import CurveIdentity, daemon_keys, new_keys, write_identity
from mt5bridge.grant import Grant, Role

HEAD = ["name", "roles", "identity", "account", "money", "symbols", "lots", "a minute", "password"]
ROLES = tuple(Role)


@click.group(cls=Commands)
def command() -> None:
    """Say who may publish, trade or read, as which terminal, account and symbols.

    A running daemon takes over what changes within a second or two.
    """


@command.command("add")
@click.argument("name")
@NEEDED_CONFIG
@click.option(
    "--role", "roles", type=click.Choice([role.value for role in Role]), multiple=True,
    help="What it is for; repeatable; left out, all three.",
)  # fmt: skip
@click.option("--identity", default="", help="The terminal's identity, its programs' included.")
@click.option("--account", default="", help="LOGIN@SERVER, the only account it may come from.")
@click.option("--allow-real", is_flag=True, help="Real accounts too; left out, demo accounts only.")
@click.option("--symbol", "symbols", multiple=True, help="A symbol it may have; repeatable.")
@click.option(
    "--lots-per-order", type=LOTS, default=0.0, show_default=True,
    help="Lots that one order or signal may open; 0: no limit.",
)  # fmt: skip
@click.option(
    "--orders-per-minute", type=click.IntRange(min=0), default=0, show_default=True,
    help="Orders and signals within a minute that may open; 0: no limit.",
)  # fmt: skip
@click.option(
    "--password-from", default="",
    help="env:NAME or keyring:SERVICE, where the daemon finds the password; left out, a random one "
    "is kept in the store.",
)  # fmt: skip
def add_command(
    name: str,
    config: Path,
    roles: tuple[str, ...],
    identity: str,
    account: str,
    allow_real: bool,
    symbols: tuple[str, ...],
    lots_per_order: float,
    orders_per_minute: int,
    password_from: str,
) -> None:
    """Make a credential that allows only what is said here."""
    login, server = account_of(account)
    grant = Grant(
        roles=tuple(map(Role, roles)) or ROLES,
        identity=identity,
        account=login,
        server=server,
        allow_real=allow_real,
        symbols=symbols,
        lots_per_order=lots_per_order,
        orders_per_minute=orders_per_minute,
    )
    settings = read_config(config)
    if name == USER or name in settings.server.users:
        raise UserError(f"{name} is a user already", "give the credential another name")
    store = store_of(settings)
    store.add(name, grant, password_from)
    say(f"made {store.path(name)}")
    say(f"next: `mt5cep terminal install --user {name}` on this machine; for another one")
    say(f"`mt5cep credential export {name} FILE`, and there `terminal install --credential FILE`")


@command.command("ls")
@NEEDED_CONFIG
@JSON
def ls_command(config: Path, as_json: bool) -> None:
    """List credentials and what they allow; no password is shown."""
    store = store_of(read_config(config))
    kept = {name: store.read(name) for name in store.names()}
    if as_json:
        told = [
            {
                "name": name,
                **msgspec.to_builtins(one.grant),
                "password_from": one.password_from,
            }
            for name, one in kept.items()
        ]
        say(json.dumps(told, indent=1))
        return
    own = [USER, "all", "any", "any", "demo, real", "all", "", "", "credential.txt"]
    say("\n".join(aligned([HEAD, own, *(row(*item) for item in kept.items())])))


@command.command("rm")
@click.argument("name")
@NEEDED_CONFIG
def rm_command(name: str, config: Path) -> None:
    """Remove a credential; who is connected with it is sent away."""
    store_of(read_config(config)).remove(name)
    say(f"removed {name}")


@command.command("rotate")
@click.argument("name")
@NEEDED_CONFIG
def rotate_command(name: str, config: Path) -> None:
    """Give a credential a new password; who is connected with the old one is sent away."""
    store_of(read_config(config)).rotate(name)
    say(f"{name} has a new password; export it for its terminal")


@command.command("export")
@click.argument("name")
@click.argument("file", type=FILE)
@NEEDED_CONFIG
def export_command(name: str, file: Path, config: Path) -> None:
    """Write user and password to FILE, for its owner alone, for a terminal or a program."""
    if file.exists():
        raise UserError(f"{file} is there, and is not overwritten", "name another file")
    write_credential(file, store_of(read_config(config)).held(name).credential)
    say(f"wrote {file}; delete it when its terminal has it")


@command.command("curve")
@click.argument("name")
@click.argument("file", type=FILE)
@NEEDED_CONFIG
def curve_command(name: str, file: Path, config: Path) -> None:
    """Make new CURVE keys for a credential; FILE, for its owner alone, is what a program needs.

    The daemon keeps the public key only. A program with keys made before is sent away.
    """
    if file.exists():
        raise UserError(f"{file} is there, and is not overwritten", "name another file")
    settings = read_config(config)
    store, keys = store_of(settings), new_keys()
    store.read(name)
    daemon = daemon_keys(settings.state.folder).public
    write_identity(file, CurveIdentity(user=name, daemon=daemon, keys=keys))
    store.set_curve_key(name, keys.public)
    say(f"wrote {file}; move it to the machine of its program")
    if not settings.server.curve_bind:
        say("set `curve_bind` in [server] of the settings, and start the daemon again")


def account_of(text: str) -> tuple[int, str]:
    """Login and trade server. UserError when it is not both."""
    login, _, server = text.partition("@")
    if text and not (login.isascii() and login.isdigit() and int(login) and server):
        raise UserError(f"--account {text}: no account", "write LOGIN@SERVER, 123456@Broker-Demo")
    return int(login or 0), server


def row(name: str, kept: Kept) -> list[str]:
    grant = kept.grant
    return [
        name,
        ", ".join(grant.roles),
        grant.identity or "any",
        f"{grant.account}@{grant.server}" if grant.account else "any",
        "demo, real" if grant.allow_real else "demo",
        ", ".join(grant.symbols) or "all",
        f"{grant.lots_per_order:g}" if grant.lots_per_order else "",
        str(grant.orders_per_minute or ""),
        kept.password_from or "kept",
    ]
