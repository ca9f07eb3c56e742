"""Our own code, shipped with a run to Spark's machines."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from cep.backtest.code import PACKAGES, ROOT, code_hash


def packed(folder: Path) -> Path:
    """A zip file of our packages in `folder`, which is named after its content."""
    path = folder / f"mt5cep-{code_hash()}.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for package in PACKAGES:
            for each in sorted((ROOT / package).rglob("*")):
                if each.is_file() and "__pycache__" not in each.parts:
                    file.write(each, each.relative_to(ROOT).as_posix())
    return path
