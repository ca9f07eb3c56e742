"""Where the MQL5 sources lie: beside the package in a checkout, inside it when installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
OWN = "Mt5Bridge"
"""The folder below Experts, Indicators, Scripts and Include that is ours."""
SUFFIXES = (".mq5", ".mqh")
VERSION_FILE = Path("Include", OWN, "Version.mqh")


class SourcesError(RuntimeError):
    """The MQL5 sources are not where they should be."""


def sources_folder() -> Path:
    """The folder that mirrors a terminal's `MQL5`. SourcesError when the package is incomplete."""
    for folder in (PACKAGE / "mql5", PACKAGE.parent / "mql5"):
        if (folder / VERSION_FILE).is_file():
            return folder
    raise SourcesError(f"no MQL5 sources beside {PACKAGE}; install mt5cep again")


def source_files(folder: Path) -> Iterator[Path]:
    """The sources below a folder that mirrors `MQL5`, relative to it, in order."""
    found = (path for suffix in SUFFIXES for path in folder.glob(f"*/{OWN}/**/*{suffix}"))
    yield from sorted(path.relative_to(folder) for path in found if path.is_file())


def sources_version(folder: Path) -> str | None:
    """The version that the sources in a folder say they have; None when there are none."""
    try:
        text = (folder / VERSION_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(r'^#define\s+MT5BRIDGE_VERSION\s+"([^"]+)"', text, re.MULTILINE)
    return found[1] if found else None
