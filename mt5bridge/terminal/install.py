"""Copies the MQL5 sources into a data folder, and takes them out again.

Only folders named `Mt5Bridge` are touched. A manifest says what was installed, by content: a file
that its user has edited since is neither overwritten nor removed, but named.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from mt5bridge.spool.disk import replace_file
from mt5bridge.terminal.folders import DataFolder
from mt5bridge.terminal.sources import OWN, source_files, sources_version

MANIFEST = Path("Include", OWN, "installed.json")


class InstallError(RuntimeError):
    """The manifest cannot be used; the message says what to do."""


class Action(StrEnum):
    """What happens to a file."""

    ADD = "add"
    UPDATE = "update"
    SAME = "same"
    REMOVE = "remove"
    KEEP = "keep"
    """It is not as it was installed: its user has edited it, or brought it."""


class Step(NamedTuple):
    """One file, relative to `MQL5`."""

    path: Path
    action: Action


class Compiled(msgspec.Struct, frozen=True):
    """A program that was compiled for its user: what it is known by, and its sources' version."""

    digest: str
    version: str


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """What was installed: for each file the digests of the contents that are ours."""

    version: str
    files: dict[str, list[str]]
    compiled: dict[str, Compiled] = {}


def digest(content: bytes) -> str:
    """What a content is known by."""
    return hashlib.sha256(content).hexdigest()


def is_installed(mql5: Path) -> bool:
    """Whether an installation has left its manifest, whatever is in it."""
    return (mql5 / MANIFEST).exists()


def read_manifest(mql5: Path) -> Manifest | None:
    """What is installed; None when nothing is. InstallError for a file that is no manifest."""
    path = mql5 / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise InstallError(f"{path}: damaged ({error}); delete it and install again") from None
    for name in (*manifest.files, *manifest.compiled):
        if not _is_ours(name):
            raise InstallError(f"{path}: names {name!r}, which is not ours; delete the manifest")
    return manifest


def plan_install(folder: DataFolder, sources: Path) -> list[Step]:
    """What an installation would do, file by file; nothing is changed."""
    known = _known(folder)
    wanted = list(source_files(sources))
    steps = [
        Step(path, _action(folder.mql5 / path, (sources / path).read_bytes(), known.get(path, [])))
        for path in wanted
    ]
    gone = known.keys() - set(wanted)
    return steps + list(_removals(folder, {path: known[path] for path in sorted(gone)}))


def install(folder: DataFolder, sources: Path) -> list[Step]:
    """Do it; what was done. A file appears whole or not at all; killed, it can be run again."""
    steps = plan_install(folder, sources)
    before = {path.as_posix(): digests for path, digests in _known(folder).items()}
    ours = {
        step.path.as_posix(): digest((sources / step.path).read_bytes())
        for step in steps
        if step.action in (Action.ADD, Action.UPDATE, Action.SAME)
    }
    version, compiled = sources_version(sources) or "", _compiled(folder)
    # First what may be there when this is interrupted, in the end what is there.
    both = {name: [*before.get(name, []), *_one(ours, name)] for name in {**before, **ours}}
    _save(folder, Manifest(version, both, compiled))
    for path, action in steps:
        if action in (Action.ADD, Action.UPDATE):
            _write(folder.mql5 / path, (sources / path).read_bytes())
        elif action is Action.REMOVE:
            remove(folder.mql5, path)
    kept = {path.as_posix() for path, action in steps if action is Action.KEEP}
    files = {name: digests for name, digests in before.items() if name in kept}
    now = {**files, **{name: [one] for name, one in ours.items()}}
    _save(folder, Manifest(version, now, compiled))
    return steps


def record_compiled(folder: DataFolder, programs: Iterable[Path]) -> None:
    """Remember compiled programs, relative to `MQL5`, as made from the sources that are there."""
    manifest = read_manifest(folder.mql5)
    if manifest is None:
        return
    version = sources_version(folder.mql5) or ""
    made = {path.as_posix(): Compiled(digest((folder.mql5 / path).read_bytes()), version)
            for path in programs}  # fmt: skip
    _save(folder, Manifest(manifest.version, manifest.files, {**manifest.compiled, **made}))


def plan_uninstall(folder: DataFolder) -> list[Step]:
    """What taking out would do, file by file; nothing is changed.

    A program that its user has compiled since stays where it is, as other files of theirs.
    """
    made = {Path(name): [one.digest] for name, one in _compiled(folder).items()}
    programs = [step for step in _removals(folder, made) if step.action is Action.REMOVE]
    return list(_removals(folder, _known(folder))) + programs


def uninstall(folder: DataFolder) -> list[Step]:
    """Remove exactly what was installed, and the folders that are empty then."""
    steps = plan_uninstall(folder)
    for path, action in steps:
        if action is Action.REMOVE:
            remove(folder.mql5, path)
    remove(folder.mql5, MANIFEST)
    return steps


def left_behind(folder: DataFolder) -> list[Path]:
    """Other files in our folders, as MetaEditor's .ex5, relative to `MQL5`."""
    ours = set(_known(folder)) | {MANIFEST}
    found = (path.relative_to(folder.mql5) for path in folder.mql5.glob(f"*/{OWN}/**/*"))
    return sorted(path for path in found if path not in ours and (folder.mql5 / path).is_file())


def _known(folder: DataFolder) -> dict[Path, list[str]]:
    manifest = read_manifest(folder.mql5)
    return {Path(name): digests for name, digests in manifest.files.items()} if manifest else {}


def _compiled(folder: DataFolder) -> dict[str, Compiled]:
    manifest = read_manifest(folder.mql5)
    return manifest.compiled if manifest else {}


def _action(target: Path, content: bytes, installed: list[str]) -> Action:
    try:
        there = target.read_bytes()
    except FileNotFoundError:
        return Action.ADD
    if there == content:
        return Action.SAME
    return Action.UPDATE if digest(there) in installed else Action.KEEP


def _removals(folder: DataFolder, known: dict[Path, list[str]]) -> Iterator[Step]:
    for path, digests in known.items():
        try:
            there = (folder.mql5 / path).read_bytes()
        except FileNotFoundError:
            continue
        yield Step(path, Action.REMOVE if digest(there) in digests else Action.KEEP)


def _is_ours(name: str) -> bool:
    """Whether a manifest's path stays within our own folders."""
    path = PurePosixPath(name)
    parts = path.parts
    plain = "\\" not in name and ":" not in name and ".." not in parts and not path.is_absolute()
    return plain and len(parts) >= 3 and parts[1] == OWN


def _one(digests: dict[str, str], name: str) -> list[str]:
    return [digests[name]] if name in digests else []


def _save(folder: DataFolder, manifest: Manifest) -> None:
    _write(folder.mql5 / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")


def _write(path: Path, content: bytes) -> None:
    """Replace a file in one step, durably."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)


def remove(mql5: Path, path: Path) -> bool:
    """Remove a file of ours, relative to `MQL5`, and the folders up to `Mt5Bridge` that are empty
    then; whether it was there.
    """
    try:
        (mql5 / path).unlink()
    except FileNotFoundError:
        return False
    for above in path.parents:
        if OWN not in above.parts or any((mql5 / above).iterdir()):
            break
        (mql5 / above).rmdir()
    return True
