"""What is installed from a wheel has everything with it: MQL5 sources and the emulator's shim."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from mt5bridge.terminal.sources import source_files, sources_folder, sources_version
from tests.terminal.machines import data_folder
from tests.waiting import LONG_S

ROOT = Path(__file__).resolve().parents[2]


def test_the_sources_have_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sources_version(sources_folder()) == project["version"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and a source distribution of this repository."""
    pytest.importorskip("hatchling", reason="hatchling is missing; pip install '.[dev]'")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=LONG_S)
    return folder


def sources_of_checkout() -> set[str]:
    shim = (ROOT / "mt5bridge" / "emulator" / "shim").rglob("*.[ch]pp")
    return {
        *(f"mql5/{path.as_posix()}" for path in source_files(ROOT / "mql5")),
        *(path.relative_to(ROOT).as_posix() for path in shim),
    }


def test_a_wheel_installs_the_sources(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    wanted = {name if name.startswith("mt5bridge/") else f"mt5bridge/{name}"
              for name in sources_of_checkout()}  # fmt: skip
    assert wanted - {path.relative_to(site).as_posix() for path in site.rglob("*")} == set()
    folder = data_folder(tmp_path / "MT5")
    done = subprocess.run(
        [sys.executable, "-m", "cep", "terminal", "install", "--folder", str(folder)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, text=True, timeout=LONG_S,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert set(source_files(folder / "MQL5")) == set(source_files(site / "mt5bridge" / "mql5"))


def test_a_source_distribution_has_them_too(built: Path) -> None:
    (packed,) = built.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert sources_of_checkout() - names == set()


USER_PROGRAM = """\
from cep.lang import parse
from cep.plan import compile_rules
from mt5bridge.terminal.sources import sources_folder

reveal_type(parse("define stream S (a int);"))
reveal_type(compile_rules("define stream S (a int);").name)
reveal_type(sources_folder())
compile_rules(1)
"""


def test_programs_that_use_an_installed_wheel_see_its_types(built: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    (wheel,) = built.glob("*.whl")
    (site,) = (tmp_path / "env").rglob("site-packages")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    assert {"cep", "mt5bridge"} == {path.parent.name for path in site.glob("*/py.typed")}
    (tmp_path / "user.py").write_text(USER_PROGRAM)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", str(python), "user.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=LONG_S,
    )  # fmt: skip
    found = done.stdout
    assert 'Revealed type is "cep.lang.ast.script.Script"' in found
    assert 'Revealed type is "str"' in found or 'Revealed type is "builtins.str"' in found
    assert 'Revealed type is "pathlib.Path"' in found
    assert '"compile_rules" has incompatible type "int"; expected "str"' in found
    assert "Found 1 error in 1 file" in found
