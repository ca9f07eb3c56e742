"""`mt5cep terminal install --compile`: the terminal's own compiler judges the sources."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from mt5bridge.terminal.compile import to_compile
from mt5bridge.terminal.folders import DataFolder, Machine, find, given
from mt5bridge.terminal.install import install, plan_uninstall, read_manifest, uninstall
from mt5bridge.terminal.metaeditor import (
    MetaEditor,
    MetaEditorError,
    Switches,
    command_line,
    find_metaeditor,
)
from mt5bridge.terminal.sources import source_files, sources_folder
from mt5bridge.terminal.wine import unix_path, wine_of
from tests.terminal import compilers
from tests.terminal.machines import HEX, OTHER_HEX, data_folder, terminals, windows

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the compilers of these tests are scripts")
PUBLISHER = Path("Experts/Mt5Bridge/Publisher.mq5")
PROGRAMS = [path for path in source_files(sources_folder()) if path.suffix == ".mq5"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A made-up Windows, whose programs run here."""
    found = windows(tmp_path / "made up")
    monkeypatch.setattr(Machine, "here", lambda: found)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def folder(machine: Machine) -> Path:
    """A terminal with a compiler in its program's folder, as `origin.txt` says."""
    program = Path(machine.environment["ProgramFiles"]) / "Broker MT5"
    compilers.metaeditor(program)
    return data_folder(terminals(machine) / HEX, str(program))


def editor_of(folder: Path) -> MetaEditor:
    found = next(one for one in find(Machine.here()) if one.path == folder)
    return find_metaeditor(found, Machine.here())


def set_mode(folder: Path, mode: str) -> None:
    compilers.metaeditor(editor_of(folder).path.parent, mode)


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["terminal", "install", *arguments])


def edit(folder: Path, line: str, program: Path = PUBLISHER) -> None:
    source = folder / "MQL5" / program
    source.write_text(f"{line}\n{source.read_text()}", encoding="utf-8")


def test_all_programs_are_compiled_and_only_clicks_remain(folder: Path) -> None:
    done = run("--compile")
    assert done.exit_code == 0, done.output
    for path in PROGRAMS:
        assert (folder / "MQL5" / path).with_suffix(".ex5").is_file()
        assert f"compiled  {path.as_posix()}: 0 errors, 0 warnings" in done.output
    assert "3 clicks remain" in done.output and "Compile (F7)" not in done.output
    order = [done.output.index(text) for text in ("listed URL", "drag", 'Algo Trading" on')]
    assert order == sorted(order)
    assert list((folder / "MQL5").rglob("*.log")) == []
    (line, *_) = compilers.lines_of(editor_of(folder).path)
    mql5 = folder / "MQL5"
    program = mql5 / "Indicators/Mt5Bridge/TickSpy"
    assert line == f'/compile:"{program}.mq5" /include:"{mql5}" /log:"{program}.log"'


def test_by_default_what_is_missing_or_old_is_compiled(folder: Path) -> None:
    assert f"compiling {len(PROGRAMS)} programs" in run().output
    assert "all programs are compiled" in run().output
    version = folder / "MQL5/Include/Mt5Bridge/Orders/Retcodes.mqh"
    later = version.stat().st_mtime_ns + 3_600_000_000_000
    os.utime(version, ns=(later, later))
    again = run()
    assert "Trader.mq5" in again.output and "Publisher.mq5" not in again.output
    assert "NOT" not in again.output
    (folder / "MQL5" / PUBLISHER.with_suffix(".ex5")).unlink()
    none = run("--no-compile")
    assert "compiling" not in none.output and "Publisher.mq5" in none.output.split("(F7)")[1]
    planned = run("--dry-run")
    assert re.search("would be compiled: .*Publisher", planned.output)
    assert "Publisher" in planned.output.split("would be compiled")[1].split("with")[0]
    assert not (folder / "MQL5" / PUBLISHER.with_suffix(".ex5")).exists()


def test_a_dry_run_names_what_would_be_compiled_behind_the_installation(folder: Path) -> None:
    """Programs that are not there yet, and those into which another include goes."""

    def planned(*more: str) -> set[str]:
        said = run("--dry-run", *more).output.split("would be compiled: ")[1]
        return set(said.split(";")[0].split(", "))

    every = {path.stem for path in PROGRAMS}
    assert planned() == planned("--compile") == every
    run("--compile")
    assert planned() == {"nothing"} and planned("--compile") == every
    (folder / "MQL5/Include/Mt5Bridge/Orders/Retcodes.mqh").unlink()
    assert "Trader" in planned() and "Publisher" not in planned()


def test_errors_and_warnings_are_shown_with_their_places(folder: Path) -> None:
    run("--no-compile")
    edit(folder, "#propert strict // error")
    edit(folder, "int unused; // warning", Path("Include/Mt5Bridge/Version.mqh"))
    done = run("--compile")
    assert done.exit_code == 1
    assert "NOT COMPILED  Experts/Mt5Bridge/Publisher.mq5: 1 error, 1 warning" in done.output
    assert "Experts/Mt5Bridge/Publisher.mq5:1:7: error 109: '#propert' - bad" in done.output
    assert "Include/Mt5Bridge/Version.mqh:1:7: warning 43: 'int' - bad" in done.output
    assert "compiled  Experts/Mt5Bridge/Trader.mq5: 0 errors, 1 warning" in done.output
    assert "clicks remain" not in done.output, "nothing is done yet"
    assert done.output.rstrip().endswith("mend what is named above, and do this again")


def test_an_include_that_is_missing_is_an_error_of_the_compiler(folder: Path) -> None:
    run("--no-compile")
    (folder / "MQL5/Include/Mt5Bridge/Account.mqh").write_text('#include "None.mqh"\n')
    done = run("--compile")
    assert done.exit_code == 1 and "None.mqh' not found" in done.output


@pytest.mark.parametrize(
    ("mode", "trouble"),
    [("silent", "no result into it"), ("no program", "has written no .ex5"), ("hangs", "ended")],
)
def test_a_compiler_that_does_not_do_its_work(folder: Path, mode: str, trouble: str) -> None:
    install(given(folder), sources_folder())
    set_mode(folder, mode)
    editor = replace(editor_of(folder), run_ms=2_000, settle_ms=100)
    verdict = editor.compile(PUBLISHER)
    assert not verdict.is_good and trouble in verdict.trouble


def test_what_a_compiler_left_from_before_is_not_taken_for_its_answer(folder: Path) -> None:
    install(given(folder), sources_folder())
    editor = replace(editor_of(folder), settle_ms=100)
    assert editor.compile(PUBLISHER).is_good
    log = (folder / "MQL5" / PUBLISHER).with_suffix(".log")
    log.write_text("Result: 0 errors, 0 warnings")
    set_mode(folder, "silent")
    assert not editor.compile(PUBLISHER).is_good


def test_a_compiler_that_goes_on_in_another_process_is_awaited(folder: Path) -> None:
    install(given(folder), sources_folder())
    set_mode(folder, "late")
    assert replace(editor_of(folder), settle_ms=60_000).compile(PUBLISHER).is_good


def test_a_compiler_that_cannot_be_started(folder: Path) -> None:
    editor_of(folder).path.chmod(0o644)
    done = run("--compile")
    assert done.exit_code == 1 and "does not start" in done.output


def test_the_line_on_windows_is_the_documented_one() -> None:
    switches = Switches("C:\\A B\\x.mq5", "C:\\A B", "C:\\A B\\x.log", portable=True)
    line = command_line([], "C:\\Program Files\\MT5\\metaeditor64.exe", switches, "nt")
    assert line == (
        '"C:\\Program Files\\MT5\\metaeditor64.exe" /compile:"C:\\A B\\x.mq5" /include:"C:\\A B" '
        '/log:"C:\\A B\\x.log" /portable'
    )


def test_without_a_compiler_it_is_a_click_unless_it_was_asked_for(machine: Machine) -> None:
    data_folder(terminals(machine) / HEX)
    quiet = run()
    assert quiet.exit_code == 0 and "not compiled: no metaeditor64.exe" in quiet.output
    assert "4 clicks remain" in quiet.output and "TickSpy.mq5" in quiet.output
    asked = run("--compile")
    assert asked.exit_code == 1 and "--metaeditor FILE" in asked.stderr
    assert "clicks remain" not in asked.output and "1 terminal not done" in asked.stderr


def test_the_compiler_is_found_by_name_by_origin_and_in_standard_folders(
    machine: Machine, tmp_path: Path
) -> None:
    data_folder(terminals(machine) / HEX, "C:\\gone")
    standard = Path(machine.environment["ProgramFiles"]) / "MetaTrader 5"
    named = compilers.metaeditor(tmp_path / "else")
    for argument in (str(named), str(named.parent)):
        assert str(named) in run("--dry-run", "--metaeditor", argument).output
    assert run("--metaeditor", str(tmp_path)).exit_code == 1
    found = compilers.metaeditor(standard)
    assert str(found) in run("--dry-run").output


def test_uninstall_takes_the_programs_it_has_compiled(folder: Path) -> None:
    run("--compile")
    mine = folder / "MQL5" / PUBLISHER.with_suffix(".ex5")
    mine.write_bytes(b"compiled by hand")
    assert run("--uninstall", "--compile").exit_code == 2
    done = run("--uninstall")
    assert "left: Experts/Mt5Bridge/Publisher.ex5" in done.output
    left = [path.name for path in (folder / "MQL5").rglob("*") if path.is_file()]
    assert left == ["Publisher.ex5"]


def test_an_update_keeps_what_is_known_of_programs(folder: Path) -> None:
    run("--compile")
    found = given(folder)
    before = read_manifest(found.mql5)
    assert before is not None and len(before.compiled) == len(PROGRAMS)
    install(found, sources_folder())
    assert read_manifest(found.mql5) == before
    assert to_compile(found, False) == []
    assert len(plan_uninstall(found)) == len(before.files) + len(PROGRAMS)
    uninstall(found)
    assert read_manifest(found.mql5) is None


def in_wine(prefix: Path, program: str = "Program Files/Broker MT5") -> DataFolder:
    """A terminal in a Wine prefix, with blanks in all its paths."""
    compilers.metaeditor(prefix / "drive_c" / program)
    profile = prefix / "drive_c/users/the user/AppData/Roaming/MetaQuotes/Terminal"
    data_folder(profile / HEX, "C:\\" + program.replace("/", "\\"))
    (folder,) = [one for one in find(Machine("linux", prefix.parent, {"WINEPREFIX": str(prefix)}))
                 if one.path.name == HEX]  # fmt: skip
    return folder


@pytest.mark.parametrize("path", ["PATH", "WINE"])
def test_wine_is_given_paths_without_blanks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    folder = in_wine(tmp_path / "a prefix")
    program = compilers.wine(tmp_path / "bin" / "wine")
    environment = {"WINEPREFIX": str(folder.prefix)}
    if path == "WINE":
        environment["WINE"] = str(program)
    else:
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(Machine, "here", lambda: Machine("linux", tmp_path, environment))
    monkeypatch.chdir(tmp_path)
    done = run("--compile", "--all")
    assert done.exit_code == 0, done.output
    for source in PROGRAMS:
        assert (folder.mql5 / source).with_suffix(".ex5").is_file()
    assert folder.prefix is not None
    lines = compilers.lines_of(folder.prefix / "drive_c/Program Files/Broker MT5/MetaEditor64.exe")
    assert len(lines) == len(PROGRAMS) and not any('"' in line for line in lines)
    assert not list((folder.prefix / "drive_c").glob("mt5cep-*")), "the links are gone"


def test_wine_shows_errors_by_the_names_of_files(tmp_path: Path) -> None:
    folder = in_wine(tmp_path / "a prefix")
    install(folder, sources_folder())
    edit(folder.path, "#propert // error")
    environment = {"WINE": str(compilers.wine(tmp_path / "wine"))}
    verdict = find_metaeditor(folder, Machine("linux", tmp_path, environment)).compile(PUBLISHER)
    assert [str(one) for one in verdict.log.messages] == [
        "Experts/Mt5Bridge/Publisher.mq5:1:7: error 109: '#propert' - bad"
    ]


def test_where_no_wine_is_it_is_said(tmp_path: Path) -> None:
    folder = in_wine(tmp_path / "prefix")
    machine = Machine("linux", tmp_path, {})
    with pytest.raises(MetaEditorError, match="no wine in PATH"):
        find_metaeditor(folder, machine, which=lambda _: None)
    with pytest.raises(MetaEditorError, match="in no Wine prefix"):
        find_metaeditor(replace(folder, prefix=None), machine,
                        folder.path.parents[6] / "Program Files/Broker MT5")  # fmt: skip


def test_bottles_of_crossover_are_run_by_its_own_wine(tmp_path: Path) -> None:
    prefix = tmp_path / ".cxoffice" / "MetaTrader 5"
    machine = Machine("linux", tmp_path, {})
    crossover = compilers.wine(tmp_path / "cxoffice/bin/wine")
    found = wine_of(prefix, machine, lambda _: "/usr/bin/wine")
    assert found is not None
    assert found.command == [str(crossover), "--bottle", "MetaTrader 5", "--cx-app"]
    crossover.unlink()
    other = wine_of(prefix, machine, lambda name: f"/usr/bin/{name}" if name == "wine64" else None)
    assert other is not None and other.command == ["/usr/bin/wine64"]
    assert other.environment["WINEPREFIX"] == str(prefix)


def test_paths_of_windows_in_a_prefix(tmp_path: Path) -> None:
    place = tmp_path / "drive_c" / "Program Files" / "MT5"
    place.mkdir(parents=True)
    (tmp_path / "dosdevices").mkdir()
    (tmp_path / "dosdevices" / "d:").symlink_to(tmp_path / "drive_c")
    assert unix_path("c:\\program files\\mt5", tmp_path) == place
    assert unix_path("D:\\Program Files", tmp_path) == tmp_path / "dosdevices/d:/Program Files"
    assert unix_path("E:\\x", tmp_path) is None and unix_path("relative", tmp_path) is None


def test_one_that_fails_keeps_no_other_terminal_from_its_turn(
    machine: Machine, folder: Path
) -> None:
    other = data_folder(terminals(machine) / OTHER_HEX, str(editor_of(folder).path.parent))
    run("--all", "--no-compile")
    edit(folder, "#propert // error")
    done = run("--all", "--compile")
    assert done.exit_code == 1
    assert not (folder / "MQL5" / PUBLISHER.with_suffix(".ex5")).exists()
    assert (other / "MQL5" / PUBLISHER.with_suffix(".ex5")).exists()
    assert "3 clicks remain" in done.stdout, "in the other"
    assert "1 terminal not done" in done.stderr


def test_a_terminal_whose_folder_is_in_a_state_keeps_no_other_from_its_turn(
    machine: Machine, folder: Path
) -> None:
    other = data_folder(terminals(machine) / OTHER_HEX, str(editor_of(folder).path.parent))
    (folder / "MQL5/Include").mkdir(exist_ok=True)
    (folder / "MQL5/Include/Mt5Bridge").write_text("a file in the way")
    done = run("--all", "--no-compile")
    assert done.exit_code == 1 and "error: " in done.stderr and "help: " in done.stderr
    assert (other / "MQL5/Include/Mt5Bridge/Version.mqh").is_file()
    assert run("--folder", str(folder), "--no-compile").exit_code == 2
