"""The sources come, go on, and leave again; what their user has edited stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.terminal import install as module
from mt5bridge.terminal.folders import DataFolder, given
from mt5bridge.terminal.install import (
    MANIFEST,
    Action,
    InstallError,
    Step,
    install,
    left_behind,
    plan_install,
    plan_uninstall,
    read_manifest,
    uninstall,
)
from mt5bridge.terminal.sources import source_files, sources_folder, sources_version
from tests.terminal.machines import data_folder

EXPERT = Path("Experts/Mt5Bridge/Publisher.mq5")
HEADER = Path("Include/Mt5Bridge/Wire/Bytes.mqh")
VERSION = Path("Include/Mt5Bridge/Version.mqh")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small `mql5` folder."""
    texts = {
        EXPERT: "// expert",
        HEADER: "// header",
        VERSION: '#define MT5BRIDGE_VERSION "1.2.3"\n',
        Path("Include/Other/Foreign.mqh"): "// not ours",
        Path("Include/Mt5Bridge/notes.md"): "no source",
    }
    for path, text in texts.items():
        (tmp_path / "mql5" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mql5" / path).write_text(text, encoding="utf-8")
    return tmp_path / "mql5"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return given(data_folder(tmp_path / "terminal"))


def actions(steps: list[Step]) -> dict[Path, Action]:
    return {step.path: step.action for step in steps}


def content(folder: DataFolder) -> dict[str, bytes]:
    """Every file below `MQL5`."""
    files = (path for path in folder.mql5.rglob("*") if path.is_file())
    return {path.relative_to(folder.mql5).as_posix(): path.read_bytes() for path in files}


def test_only_our_own_sources_are_copied(sources: Path, folder: DataFolder) -> None:
    steps = install(folder, sources)
    assert actions(steps) == dict.fromkeys((EXPERT, HEADER, VERSION), Action.ADD)
    assert set(content(folder)) == {p.as_posix() for p in (EXPERT, HEADER, VERSION, MANIFEST)}
    assert (folder.mql5 / EXPERT).read_bytes() == (sources / EXPERT).read_bytes()
    manifest = read_manifest(folder.mql5)
    assert manifest is not None and manifest.version == "1.2.3"


def test_a_plan_changes_nothing(sources: Path, folder: DataFolder) -> None:
    planned = plan_install(folder, sources)
    assert content(folder) == {}
    assert planned == install(folder, sources)
    assert {step.action for step in plan_uninstall(folder)} == {Action.REMOVE}
    assert (folder.mql5 / EXPERT).is_file()


def test_an_update_writes_what_changed_and_removes_what_is_gone(
    sources: Path, folder: DataFolder
) -> None:
    install(folder, sources)
    untouched = (folder.mql5 / VERSION).stat().st_mtime_ns
    (sources / EXPERT).write_text("// better", encoding="utf-8")
    (sources / HEADER).unlink()
    done = actions(install(folder, sources))
    assert done == {EXPERT: Action.UPDATE, VERSION: Action.SAME, HEADER: Action.REMOVE}
    assert (folder.mql5 / EXPERT).read_text() == "// better"
    assert not (folder.mql5 / HEADER).parent.exists()
    assert (folder.mql5 / VERSION).stat().st_mtime_ns == untouched
    assert set(actions(install(folder, sources)).values()) == {Action.SAME}


def test_edited_files_are_kept_and_named(sources: Path, folder: DataFolder) -> None:
    install(folder, sources)
    (folder.mql5 / EXPERT).write_text("// mine", encoding="utf-8")
    (sources / EXPERT).write_text("// better", encoding="utf-8")
    for _ in range(2):
        assert actions(install(folder, sources))[EXPERT] is Action.KEEP
    assert (folder.mql5 / EXPERT).read_text() == "// mine"
    assert actions(uninstall(folder)) == {
        EXPERT: Action.KEEP, HEADER: Action.REMOVE, VERSION: Action.REMOVE,
    }  # fmt: skip
    assert set(content(folder)) == {EXPERT.as_posix()}


def test_a_file_of_the_users_own_is_never_ours(sources: Path, folder: DataFolder) -> None:
    (folder.mql5 / EXPERT).parent.mkdir()
    (folder.mql5 / EXPERT).write_text("// brought", encoding="utf-8")
    assert actions(install(folder, sources))[EXPERT] is Action.KEEP
    assert EXPERT not in actions(uninstall(folder))
    assert set(content(folder)) == {EXPERT.as_posix()}


def test_uninstall_leaves_what_it_did_not_bring(sources: Path, folder: DataFolder) -> None:
    (folder.mql5 / "Experts/Other.mq5").write_text("// other", encoding="utf-8")
    before = content(folder)
    install(folder, sources)
    compiled = folder.mql5 / EXPERT.with_suffix(".ex5")
    compiled.write_bytes(b"EX5")
    uninstall(folder)
    assert left_behind(folder) == [EXPERT.with_suffix(".ex5")]
    compiled.unlink()
    compiled.parent.rmdir()
    assert content(folder) == before and not (folder.mql5 / "Include/Mt5Bridge").exists()
    assert uninstall(folder) == []


@pytest.mark.parametrize("writes", range(5))
def test_an_installation_that_broke_off_is_repeated(
    sources: Path, folder: DataFolder, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    install(folder, sources)
    for path in (EXPERT, HEADER, VERSION):
        (sources / path).write_text((sources / path).read_text() + "// 2\n", encoding="utf-8")
    real, done = module._write, []

    def fails_at_last(path: Path, data: bytes) -> None:
        if len(done) == writes:
            raise OSError("disk full")
        done.append(path)
        real(path, data)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(module, "_write", fails_at_last)
        install(folder, sources)
    for path in (EXPERT, HEADER, VERSION):
        (sources / path).write_text((sources / path).read_text() + "// 3\n", encoding="utf-8")
    assert Action.KEEP not in actions(install(folder, sources)).values()
    assert (folder.mql5 / HEADER).read_bytes() == (sources / HEADER).read_bytes()


@pytest.mark.parametrize(
    "name", ["../../x.mq5", "Experts/Other/x.mq5", "/etc/Mt5Bridge/x", "C:/Mt5Bridge/x/y",
             "Experts/Mt5Bridge/../../x", "Experts\\Mt5Bridge\\x"],
)  # fmt: skip
def test_a_manifest_that_names_what_is_not_ours_is_refused(folder: DataFolder, name: str) -> None:
    (folder.mql5 / MANIFEST).parent.mkdir(parents=True)
    escaped = name.replace("\\", "\\\\")
    text = f'{{"version": "1", "files": {{"{escaped}": []}}}}'
    (folder.mql5 / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(InstallError, match="not ours"):
        uninstall(folder)


def test_a_damaged_manifest_is_named(sources: Path, folder: DataFolder) -> None:
    install(folder, sources)
    (folder.mql5 / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(InstallError, match="delete it and install again"):
        plan_install(folder, sources)


def test_the_sources_of_this_package_are_complete() -> None:
    folder = sources_folder()
    assert sources_version(folder) == "0.1.0"
    assert VERSION in list(source_files(folder))


def test_no_version_where_no_sources_are(tmp_path: Path) -> None:
    assert sources_version(tmp_path) is None
