"""Files of functions: the user's own Python, named on his command line or in his settings."""

from __future__ import annotations

import hashlib
import linecache
import sys
import traceback
from collections.abc import Iterable
from importlib.abc import InspectLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType

import msgspec

from cep.plan.functions import (
    FunctionError,
    Origin,
    forget_of,
    load_installed,
    restored_on_failure,
    standing_in,
    user_places,
)

DECORATED = "put `@function` or `@indicator` of `cep.functions` above what rules shall call"
_loaded: list[FunctionFile] = []


class FunctionFile(msgspec.Struct, frozen=True):
    """A file as it was read: what runs it elsewhere need not see the disk."""

    path: str
    text: str


def load_functions(files: Iterable[Path | str]) -> None:
    """Make the functions of Python files known, instead of those of files loaded before.

    A file runs with the user's rights, like any program of his. It may import what is installed.
    FunctionError names file, line and remedy; what was known before still is then.
    """
    if isinstance(files, str | Path):
        raise FunctionError(
            f"load_functions({str(files)!r}) names no list", f"give [{str(files)!r}]"
        )
    once = {Path(file).resolve(): Path(file) for file in files}
    load_texts([_read(file) for file in once.values()])


def load_texts(files: Iterable[FunctionFile]) -> None:
    """As `load_functions`, of files that were read already."""
    files = list(files)
    if files:
        load_installed()
    with restored_on_failure():
        forget_of([file.path for file in _loaded])
        for file in files:
            _run(file)
    _loaded[:] = files


def loaded_files() -> tuple[FunctionFile, ...]:
    """The files loaded last."""
    return tuple(_loaded)


def changed_files() -> list[str]:
    """The files loaded last that are others now, or gone."""
    return [file.path for file in _loaded if not _is_as_it_was(file)]


def _is_as_it_was(file: FunctionFile) -> bool:
    try:
        return _read(Path(file.path)) == file
    except FunctionError:
        return False


def _read(path: Path) -> FunctionFile:
    try:
        return FunctionFile(str(path), path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise FunctionError(f"{path}: no such file", "name a Python file of functions") from None
    except OSError as problem:
        raise FunctionError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise FunctionError(f"{path}: not UTF-8 at byte {problem.start}", "save it so") from None


class _Loader(InspectLoader):
    """Gives Python the text that was read."""

    def __init__(self, file: FunctionFile) -> None:
        self._file = file

    def get_source(self, fullname: str) -> str:
        return self._file.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._file.text, self._file.path)


def _run(file: FunctionFile) -> None:
    """Run a file as a module of its own, which is not found by `import`."""
    digest = hashlib.sha256(f"{file.path}\0{file.text}".encode()).hexdigest()[:12]
    name = f"mt5cep_functions_{Path(file.path).stem}_{digest}"
    spec = spec_from_loader(name, loader := _Loader(file), origin=file.path)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and annotations look for it
    lines = file.text.splitlines(keepends=True)
    linecache.cache[file.path] = (len(file.text), None, lines, file.path)  # for tracebacks
    try:
        with standing_in(Origin(file.path, file.text)):
            loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        raise _failed(file, problem) from problem
    if file.path not in user_places().values():
        raise FunctionError(f"{file.path}: makes no function known", DECORATED)


def _failed(file: FunctionFile, problem: BaseException) -> FunctionError:
    """What went wrong, and on which line of the file."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file.path]
    line = problem.lineno if isinstance(problem, SyntaxError) else lines[-1] if lines else None
    place = f"{file.path}:{line}" if line else file.path
    if isinstance(problem, FunctionError):
        return FunctionError(f"{place}: {str(problem).removeprefix(f'{file.path}: ')}")
    name = type(problem).__name__
    said = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    remedy = "mend the file"
    if isinstance(problem, ImportError):
        remedy = "install what it imports; files beside it are not found"
    return FunctionError(f"{place}: {name}: {said}", remedy)
