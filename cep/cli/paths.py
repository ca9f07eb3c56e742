"""Files and folders as options of a command; addresses such as s3://bucket are none, but of an
archive that is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mt5bridge.local import PUBLISH, AddressError, is_address, local


class _Local(click.Path):
    """As `click.Path`, for paths of this machine only; `remedy` is told of others."""

    def __init__(self, remedy: str | None = None, **given: Any) -> None:
        super().__init__(path_type=Path, **given)
        self._remedy = {} if remedy is None else {"remedy": remedy}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            local(value, **self._remedy)
        except AddressError as error:
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


class _Readable(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A folder, or the address of one in an object store: a Path or a str."""

    name = "directory or address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return str(value) if is_address(value) else FOLDER.convert(value, param, ctx)


PATH = _Local()
FILE = _Local(dir_okay=False)
FILE_OR_STDIN = _Local(dir_okay=False, allow_dash=True)
FOLDER = _Local(file_okay=False)
ARCHIVE = _Readable()
WRITTEN_ARCHIVE = _Local(PUBLISH, file_okay=False)
