"""Files and folders as options of a command; addresses such as s3://bucket are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mt5bridge.local import AddressError, local


class _Local(click.Path):
    """As `click.Path`, for paths of this machine only."""

    def __init__(self, **given: Any) -> None:
        super().__init__(path_type=Path, **given)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            local(value)
        except AddressError as error:
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


PATH = _Local()
FILE = _Local(dir_okay=False)
FILE_OR_STDIN = _Local(dir_okay=False, allow_dash=True)
FOLDER = _Local(file_okay=False)
