"""Generated modules on disk: imported from the cache folder, where Numba keeps its code, too."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from threading import RLock
from types import ModuleType

from cep.engine.jit import cache_folder

PREFIX = "mt5cep_"
"""How the names of generated modules begin."""
_loading = RLock()
"""No thread gets a module that another one is still making."""


def load_module(source: str) -> ModuleType:
    """The module of this source, written where it is not yet."""
    with _loading:
        return _loaded(source)


def plans_folder() -> Path:
    """Where generated modules and what is made of them lie; made if it is not there."""
    folder = cache_folder() / "plans"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _loaded(source: str) -> ModuleType:
    name = f"{PREFIX}{hashlib.sha256(source.encode()).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    path = plans_folder() / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        draft = path.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(source)
        draft.replace(path)
    return imported(name)


def imported(name: str) -> ModuleType:
    """The generated module of this name, which has been written."""
    path = plans_folder() / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]  # half made, it would be taken for whole the next time
        raise
    return module
