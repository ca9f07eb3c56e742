"""The documentation is complete: options, keywords and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec
import pytest

from cep.cli import application, main
from cep.dropped import Reason
from cep.lang import parse, parse_on_demand
from cep.lang.annotations import KINDS, AnnotationKind
from cep.lang.tokens import ATTRIBUTE_TYPES, KEYWORDS, TIME_UNITS_MS
from cep.lang.unsupported import ANNOTATIONS
from cep.live.config import Config, read_config
from cep.plan.functions import AGGREGATORS, SCALARS, STREAM_FUNCTIONS
from cep.plan.windows import WINDOWS
from tests.docs import functions_page
from tests.docs.pages import PAGES, ROOT, blocks, name

OPERATE = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
LANGUAGE = (ROOT / "docs/rule-language.md").read_text(encoding="utf-8")


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below `command`, with its full name."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from commands(found, f"{path} {child}")


ALL = dict(commands(main, "mt5cep"))


def section(text: str, heading: str) -> str:
    """The text under the heading that contains `heading` in backticks, up to the next heading."""
    found = re.search(rf"^#+ .*`{re.escape(heading)}`.*\n((?:(?!^#).*\n)*)", text, re.MULTILINE)
    assert found, f"no heading with `{heading}`"
    return found[1]


@pytest.mark.parametrize("path", [path for path in ALL if path != "mt5cep"])
def test_every_command_and_option_is_documented(path: str) -> None:
    text = section(OPERATE, path)
    for parameter in ALL[path].params:
        if isinstance(parameter, click.Option):
            long = max(parameter.opts, key=len)
            assert f"`{long}" in text, f"{path}: {long} is not in docs/operate.md"


def test_every_option_has_a_help_text() -> None:
    missing = [
        f"{path} {option.opts}"
        for path, command in ALL.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert missing == []


def test_no_command_is_documented_that_is_not_there() -> None:
    headings = re.findall(r"^#+ .*`(mt5cep [a-z ]+)`", OPERATE, re.MULTILINE)
    assert set(headings) <= ALL.keys()
    assert {f"mt5cep {command}" for command in application.COMMANDS} <= set(headings)


def code_of(text: str) -> str:
    """Everything in a page that is set as code."""
    fenced = re.findall(r"```.*?```", text, re.DOTALL)
    inline = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return " ".join(fenced + inline)


@pytest.mark.parametrize("word", sorted(KEYWORDS | set(ATTRIBUTE_TYPES) | set(TIME_UNITS_MS)))
def test_every_keyword_is_documented(word: str) -> None:
    assert re.search(rf"(?<!\w){word}(?!\w)", code_of(LANGUAGE)), word


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_to_drop_is_documented(reason: Reason) -> None:
    dropped = LANGUAGE.partition("## What is dropped")[2].partition("## Errors")[0]
    assert f"| `{reason.value}` |" in dropped


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.written)
def test_every_annotation_is_documented(kind: AnnotationKind) -> None:
    assert f"| `@{kind.written}` |" in LANGUAGE
    assert f"| {kind.doc} |" in LANGUAGE


@pytest.mark.parametrize("written", [written for written, _ in ANNOTATIONS.values()])
def test_what_is_refused_is_documented(written: str) -> None:
    refused = LANGUAGE.split("## What is not here")[1]
    assert f"`@{written}`" in refused


def test_the_page_of_functions_is_what_the_tables_say() -> None:
    assert functions_page.PAGE.read_text(encoding="utf-8") == functions_page.text()


def test_every_function_is_on_the_page_of_functions() -> None:
    listed = [signature for part in functions_page.parts() for signature in part.signatures]
    functions = [one.signature for one in (*WINDOWS, *AGGREGATORS, *SCALARS)]
    there = [*STREAM_FUNCTIONS, *functions]
    assert sorted(s.name for s in listed) == sorted(s.name for s in there)
    assert all(signature.doc for signature in there)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_on_demand_queries_in_pages_can_be_parsed(page: Path) -> None:
    for block in blocks(page):
        if block.language == "on-demand":
            for line in block.text.splitlines():
                assert parse_on_demand(line).output


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_rules_in_pages_can_be_parsed(page: Path) -> None:
    for block in blocks(page):
        if block.language == "sql":
            assert parse(block.text, f"{name(page)} line {block.line}").statements


def settings(section: type[msgspec.Struct]) -> Iterator[str]:
    """Every key of the daemon's settings file."""
    for field in msgspec.structs.fields(section):
        yield field.encode_name
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from settings(field.type)


@pytest.mark.parametrize("key", sorted(set(settings(Config))))
def test_every_setting_is_documented(key: str) -> None:
    assert f"`{key}`" in OPERATE or f"`[{key}]`" in OPERATE


@pytest.mark.parametrize("file", sorted((ROOT / "config").glob("*.toml")), ids=name)
def test_the_example_settings_can_be_read(file: Path) -> None:
    assert read_config(file).rules.file.is_absolute()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert missing == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name(p) for p in PAGES if name(p) != "README.md" and name(p) not in readme] == []
