"""For developers: `python -m mt5bridge.emulator FILE.mq5 ...` builds programs, runs scripts."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from mt5bridge.emulator.build import BuildError, CompilerMissingError, build
from mt5bridge.emulator.translate import TranslationError, translate
from mt5bridge.terminal.sources import SourcesError, sources_folder


def main() -> int:
    """The exit code: that of the script if one was run, 1 if something was refused."""
    parser = argparse.ArgumentParser(prog="python -m mt5bridge.emulator", description=__doc__)
    parser.add_argument("programs", nargs="+", type=Path, metavar="FILE.mq5")
    parser.add_argument("--sanitize", action="store_true", help="find wrong accesses at run time")
    parser.add_argument("--print", action="store_true", dest="show", help="show the C++ instead")
    parser.add_argument("--include", type=Path, help="a terminal's MQL5/Include, for <...>")
    parser.add_argument("--data", type=Path, help="the terminal's data folder (else a new one)")
    options = parser.parse_args()
    try:
        if options.show:
            for program in options.programs:
                sys.stdout.write(_translated(program, options.include))
            return 0
        executable = build(options.programs, sanitize=options.sanitize, library=options.include)
    except (TranslationError, BuildError, CompilerMissingError, SourcesError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return _run(executable, options.data)


def _translated(program: Path, library: Path | None) -> str:
    return translate(program, sources_folder() / "Include", library).cpp


def _run(executable: Path, data: Path | None) -> int:
    """Run OnStart of the scripts among the programs; in a new data folder if none is named."""
    with tempfile.TemporaryDirectory() as fresh:
        return subprocess.run([executable, "--data", data or fresh], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
