"""`mt5cep daemon --init`: settings and a credential to start with."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from cep.cli.errors import UserError
from cep.cli.settings_file import PLACES, found_settings
from cep.live.config import credential_path, read_config
from cep.live.state_folder import is_held
from mt5bridge.credential import ensure_credential, read_credential


def init(config: Path | None) -> list[Path]:
    """Write what is not there yet, and overwrite nothing; the files written.

    Settings come with the rules that they name. UserError when nothing is missing.
    """
    path = found_settings(config) or PLACES[0]
    written = [] if path.exists() else [_starter(path), *_rules(path)]
    settings = read_config(path)
    credential = credential_path(settings)
    if not credential.exists() and is_held(settings.state.folder):
        raise UserError(
            f"{credential} is gone, and a daemon runs that would not know a new one",
            "end the daemon, then run this again",
        )
    if ensure_credential(credential):
        written.append(credential)
    read_credential(credential)  # an older one may be unusable
    if not written:
        raise UserError(
            f"{path} and {credential} are there, and are not overwritten",
            "for a new credential end the daemon, delete the old one, and run this again; then "
            "give it to your terminals with `mt5cep terminal install`",
        )
    return written


def _rules(settings: Path) -> list[Path]:
    """The rules of the starter's settings, unless there are some of that name."""
    path = settings.with_name("rules.cep")
    return [] if path.exists() else [_starter(path, path.name)]


def _starter(path: Path, name: str = "daemon.toml") -> Path:
    """A new file from the one of this name that comes with the package."""
    text = files("cep.live").joinpath("starter", name).read_text(encoding="utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return path
