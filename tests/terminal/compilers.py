"""A MetaEditor and a Wine that behave as the real ones do, as programs of this machine.

MetaEditor looks for includes below `/include`, writes a log of UTF-16, and ends with 1 when all is
well and with 0 when not. Wine makes one line of its arguments, with quotes where there are blanks;
MetaEditor splits it at blanks that no quote right behind a colon protects.
"""

from __future__ import annotations

import sys
from pathlib import Path

MODE = "mode.txt"
"""Beside the compiler: what goes wrong with it."""

_EDITOR = r'''
import os, re, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
mode = (HERE / "mode.txt").read_text() if (HERE / "mode.txt").exists() else ""
line = os.environ.get("FAKE_LINE", " ".join(
    re.sub(r"^(/\w+:)(.*)$", r'\1"\2"', one) for one in sys.argv[1:]))
(HERE / "lines.txt").open("a").write(line + "\n")
switches = dict(re.findall(r'/(\w+):(?:"([^"]*)"|\S*)', line)) if '"' in line else {}
for name, value in re.findall(r'/(\w+):([^"\s]+)', line):
    switches.setdefault(name, value)

def local(path):
    """A path of the prefix."""
    if re.match("[A-Za-z]:", path):
        return Path(os.environ["WINEPREFIX"], "drive_" + path[0].lower(), *path[3:].split("\\"))
    return Path(path)

def compile_one():
    source = local(switches.get("compile", ""))
    if mode == "silent" or not source.is_file():
        return 0
    said, counts, waiting, seen = [], {"error": 0, "warning": 0}, [source], set()
    name = lambda path: switches["compile"] if path == source else str(path)
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        said.append(f"{name(path)} : information: compiling '{path.name}'")
        for at, text in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#include\s+(?:<(.+)>|"(.+)")', text)
            for kind, number in (("error", 109), ("warning", 43)):
                if f"// {kind}" in text:
                    counts[kind] += 1
                    what = f"{kind} {number}: '{text.split()[0]}' - bad"
                    said.append(f"{name(path)}({at},7) : {what}")
            if found:
                root = local(switches["include"]) / "Include" if found[1] else path.parent
                wanted = root.joinpath(*re.split(r"[\\/]", found[1] or found[2]))
                if wanted.is_file():
                    waiting.append(wanted)
                else:
                    counts["error"] += 1
                    said.append(f"{name(path)}({at},11) : error 106: file '{wanted}' not found")
    if not counts["error"]:
        said += [" : information: generating code", " : information: code generated"]
        if mode != "no program":
            source.with_suffix(".ex5").write_bytes(b"EX5" + os.urandom(8))
    said.append(f"Result: {counts['error']} errors, {counts['warning']} warnings, "
                "887 msec elapsed, cpu='X64 Regular'")
    log = local(switches["log"]) if switches.get("log") else source.with_suffix(".log")
    log.write_bytes(("\ufeff" + "\r\n".join(said) + "\r\n").encode("utf-16-le"))
    return 0 if counts["error"] else 1

if mode == "hangs":
    time.sleep(3600)
elif mode == "late" and os.fork() == 0:
    os.setsid()
    time.sleep(0.3)
    compile_one()
elif mode == "late":
    sys.exit(0)
else:
    sys.exit(compile_one())
'''

_WINE = r"""
import os, subprocess, sys
from pathlib import Path

program, *arguments = sys.argv[1:]
for option in ("--bottle", "--cx-app"):
    if program == option:
        program, *arguments = arguments[1:] if option == "--bottle" else arguments
quoted = ['"%s"' % one.replace('"', '\\"') if " " in one else one for one in arguments]
prefix = Path(os.environ.setdefault("WINEPREFIX", str(Path(__file__).parent / "prefix")))
path = prefix.joinpath("drive_" + program[0].lower(), *program[3:].split("\\"))
print("0024:err:wine noise", file=sys.stderr)
sys.exit(subprocess.run([path], env={**os.environ, "FAKE_LINE": " ".join(quoted)}).returncode)
"""


def executable(path: Path, text: str) -> Path:
    """A program of this machine, run by this Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


def metaeditor(folder: Path, mode: str = "") -> Path:
    """A compiler in a program's folder, with its name as one of its installers writes it."""
    (folder / MODE).unlink(missing_ok=True)
    made = executable(folder / "MetaEditor64.exe", _EDITOR)
    if mode:
        (folder / MODE).write_text(mode, encoding="utf-8")
    return made


def wine(path: Path) -> Path:
    """A Wine at a path."""
    return executable(path, _WINE)


def lines_of(compiler: Path) -> list[str]:
    """The command lines that a compiler was started with, as it saw them."""
    told = compiler.parent / "lines.txt"
    return told.read_text(encoding="utf-8").splitlines() if told.exists() else []
