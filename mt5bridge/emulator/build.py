"""Compiles MQL5 programs with the emulated terminal into one executable, and keeps what it made.

Objects and executables lie in the cache folder under the hash of everything they are made of, so
that nothing is compiled twice and several processes may build at the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from mt5bridge.emulator.complaints import told
from mt5bridge.emulator.translate import Translation, translate
from mt5bridge.file_lock import lock
from mt5bridge.terminal.sources import sources_folder

PACKAGE = Path(__file__).resolve().parent
SHIM = PACKAGE / "shim"
_COMMON = ("-std=c++20", "-O2", "-Wall", "-fwrapv", "-fno-strict-aliasing", f"-I{SHIM}")
# What MetaEditor warns about is an error: conversions that lose data, names that hide others. It
# says nothing about unused functions of an include file, a switch over some values of an
# enumeration, numbers in braces, the order of initializers. What g++ says of memory used after its
# end is wrong for counted references; `sanitize` finds what is not.
_PROGRAM = (
    "-Werror", "-Wconversion", "-Wshadow", "-Wno-narrowing", "-Wno-unused-function", "-Wno-switch",
    "-Wno-reorder", "-Wno-use-after-free", f"-isystem{SHIM}",
)  # fmt: skip
# MQL5's structures are packed, so their members lie at any address; what is not initialised shall
# not look like zero.
_SANITIZE = (
    "-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", "-g1",
    "-ftrivial-auto-var-init=pattern",
)  # fmt: skip
_CPP_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_MQL_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


class CompilerMissingError(RuntimeError):
    """There is no g++; the text says how to get it."""


class BuildError(RuntimeError):
    """The compiler refuses the program; the text names the MQL5 lines."""


def cache_folder() -> Path:
    """Where objects and executables are kept: `MT5CEP_CACHE` or the user's cache folder."""
    if chosen := os.environ.get("MT5CEP_CACHE"):
        return Path(chosen) / "emulator"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "mt5cep" / "emulator"


def compiler() -> str:
    """The path of g++. Raises CompilerMissingError."""
    if found := shutil.which(os.environ.get("CXX", "g++")):
        return found
    raise CompilerMissingError(
        "g++ is not installed; the emulated terminal needs it (Debian, Ubuntu: apt install g++; "
        "Fedora: dnf install gcc-c++)"
    )


def shim_parts() -> dict[str, list[Path]]:
    """The C++ of the emulated terminal itself, by folder.

    A folder is compiled as one unit: most of the time goes into the standard library's headers.
    """
    folders = sorted(path for path in SHIM.iterdir() if path.is_dir())
    return {folder.name: sorted(folder.glob("*.cpp")) for folder in folders}


def build(
    programs: Sequence[Path],
    *,
    flags: Sequence[str] = (),
    sanitize: bool = False,
    library: Path | None = None,
) -> Path:
    """The executable with these programs in it; made if it is not in the cache.

    `flags` and those in CXXFLAGS are added to the compiler's; `sanitize` finds wrong memory
    accesses and undefined behaviour at run time; `library` is a folder such as a terminal's
    `MQL5/Include`, for what `#include <...>` does not find among our own. Raises
    CompilerMissingError, TranslationError, BuildError.
    """
    more = os.environ.get("CXXFLAGS", "").split()
    options = (*_COMMON, *more, *flags, *(_SANITIZE if sanitize else ()))
    parts = shim_parts()
    folders = (sources_folder() / "Include", library)
    key = _digest(
        _compiler_key(), *options, *_PROGRAM, _translator_key(),
        *(_part_key(files) for files in parts.values()), _tree_key(SHIM / "mql5.hpp"),
        *(part for path in programs for part in (str(path), _mql_key(path, *folders))),
    )  # fmt: skip
    executable = cache_folder() / f"terminal-{key}"
    if executable.exists():
        return executable
    with _locked(executable.with_suffix(".lock")):
        if not executable.exists():
            _build(executable, parts, programs, folders, options)
    return executable


def _build(
    executable: Path,
    parts: Mapping[str, Sequence[Path]],
    programs: Sequence[Path],
    folders: tuple[Path, Path | None],
    options: Sequence[str],
) -> None:
    header = _tree_key(SHIM / "mql5.hpp")
    jobs: list[tuple[Path, str, tuple[str, ...], Translation | None]] = []
    for name, files in parts.items():
        text = "".join(f'#include "{file.relative_to(SHIM).as_posix()}"\n' for file in files)
        key = _digest(_compiler_key(), *options, _part_key(files))
        jobs.append((_written(name, key, text), key, tuple(options), None))
    for program in programs:
        translation = translate(program, *folders)
        cpp = translation.cpp
        command = (*options, *_PROGRAM)
        key = _digest(_compiler_key(), *command, header, cpp)
        jobs.append((_written(program.stem, key, cpp), key, command, translation))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        objects = list(pool.map(lambda job: _object(*job), jobs))
    _run([*options, *map(str, objects)], executable)


def _object(source: Path, key: str, options: Sequence[str], of: Translation | None) -> Path:
    """Its object file; what is wrong with a program is told of its author's files."""
    target = cache_folder() / f"{source.stem.removesuffix(f'-{key}')}-{key}.o"
    with _locked(target.with_suffix(".lock")):
        if not target.exists():
            _run([*options, "-c", str(source)], target, of)
    return target


def _run(arguments: Sequence[str], target: Path, of: Translation | None = None) -> None:
    """Run the compiler; its result appears under `target` whole or not at all."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "made"
        done = subprocess.run(
            [compiler(), *arguments, "-o", str(made)],
            capture_output=True, text=True, cwd=sources_folder(), check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if done.returncode:
            text = told(done.stderr, of) if of else done.stderr.strip()
            raise BuildError(text or f"the compiler ended with {done.returncode}")
        made.replace(target)


def _written(name: str, key: str, text: str) -> Path:
    """The C++ file of that text in the cache."""
    target = cache_folder() / f"{name}-{key}.cpp"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(target)
    return target


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds back other processes that make the same thing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = lock(path, wait=True)
    try:
        yield
    finally:
        os.close(file)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


@cache
def _compiler_key() -> str:
    version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True)
    return version.stdout.partition("\n")[0]


@cache
def _translator_key() -> str:
    return _digest(*(path.read_text() for path in sorted((PACKAGE / "translate").glob("*.py"))))


def _part_key(files: Iterable[Path]) -> str:
    return _digest(*(_tree_key(file) for file in files))


def _tree_key(path: Path) -> str:
    """The hash of a C++ file and of every file of the shim it includes."""
    return _digest(*(file.read_text() for file in _closure(path, _cpp_includes)))


def _mql_key(path: Path, include: Path, library: Path | None) -> str:
    """The hash of an MQL5 program and of everything it may include."""

    def included(file: Path) -> Iterable[Path]:
        for bracket, name in _MQL_INCLUDE.findall(file.read_text(encoding="utf-8-sig")):
            folders = (include, library) if bracket == "<" else (file.parent,)
            for folder in filter(None, folders):
                yield (folder / name.replace("\\", "/")).resolve()

    files = _closure(path.resolve(), included)
    return _digest(*(file.read_text(encoding="utf-8-sig") for file in files))


def _cpp_includes(file: Path) -> Iterable[Path]:
    for name in _CPP_INCLUDE.findall(file.read_text()):
        beside = (file.parent / name).resolve()
        yield beside if beside.exists() else (SHIM / name).resolve()


def _closure(path: Path, included: Callable[[Path], Iterable[Path]]) -> list[Path]:
    found: dict[Path, None] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in found or not file.is_file():
            continue
        found[file] = None
        waiting += included(file)
    return sorted(found)
