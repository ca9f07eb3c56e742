"""How errors are shown."""

from __future__ import annotations

import pytest

from cep.lang import RuleError, RuleErrors, parse
from cep.lang.errors import Source, Span, listing, raise_all, suggestion


def test_fields() -> None:
    error = Source("one\ntwo three\n", "a.cep").error(Span(8, 13), "wrong", "do right")
    assert (error.source, error.line, error.column, error.length) == ("a.cep", 2, 5, 5)
    assert (error.message, error.hint) == ("wrong", "do right")
    assert error.errors == (error,)


def test_rendered() -> None:
    error = Source("one\ntwo three\n", "a.cep").error(Span(8, 13), "wrong", "do right")
    assert str(error) == (
        "a.cep:2:5: error: wrong\n  2 | two three\n    |     ^^^^^\nhelp: do right"
    )


def test_only_the_first_line_of_a_long_place_is_underlined() -> None:
    error = Source("ab\ncd").error(Span(1, 5), "wrong")
    assert error.render().endswith("  1 | ab\n    |  ^")


def test_tabs_keep_the_caret_in_place() -> None:
    error = Source("\tab\tcd").error(Span(4, 6), "wrong")
    assert error.render().split("\n")[1:] == ["  1 | \tab\tcd", "    | \t  \t^^"]


def test_windows_line_ends_do_not_show() -> None:
    error = Source("ab\r\ncd\r\n").error(Span(4, 6), "wrong")
    assert error.render().split("\n")[1] == "  2 | cd"


def test_control_characters_do_not_reach_the_terminal() -> None:
    error = Source("a\x1b[2Jb").error(Span(0, 1), "wrong")
    assert "\x1b" not in error.render()


def test_very_long_lines_are_cut_around_the_place() -> None:
    error = Source("x" * 500 + "here" + "y" * 500).error(Span(500, 504), "wrong")
    _, line, carets = error.render().split("\n")
    assert len(line) < 140
    assert line[carets.index("^") : carets.rindex("^") + 1] == "here"


def test_a_place_at_the_end_of_a_cut_line_still_has_a_caret() -> None:
    error = Source("x" * 1000).error(Span(1000, 1000), "wrong")
    assert error.render().endswith("^")


def test_several_errors_are_shown_in_the_order_of_the_text() -> None:
    source = Source("ab")
    errors = [source.error(Span(1, 2), "second"), source.error(Span(0, 1), "first")]
    with pytest.raises(RuleErrors) as caught:
        raise_all(errors)
    assert [error.message for error in caught.value.errors] == ["first", "second"]
    assert caught.value.message == "first"
    assert caught.value.render().count("error:") == 2


def test_a_flood_of_errors_is_cut() -> None:
    with pytest.raises(RuleErrors) as caught:
        parse("x;" * 50)
    assert len(caught.value.errors) == 50
    assert str(caught.value).endswith("... and 30 more errors")


def test_nothing_to_raise() -> None:
    raise_all([])


def test_a_single_error_is_raised_as_itself() -> None:
    with pytest.raises(RuleError) as caught:
        raise_all([Source("a").error(Span(0, 1), "wrong")])
    assert not isinstance(caught.value, RuleErrors)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("tick", ["Ticks", "Deals"], "did you mean `Ticks`?"),
        ("TICKS", ["Ticks", "Deals"], "did you mean `Ticks`?"),
        ("zzz", ["b", "a"], "known here: `a`, `b`"),
        ("zzz", [], ""),
    ],
)
def test_suggestion(name: str, known: list[str], expected: str) -> None:
    assert suggestion(name, known) == expected


def test_long_listings_are_cut() -> None:
    assert listing([str(i) for i in range(14)], names_max=2) == "`0`, `1`, ..."
