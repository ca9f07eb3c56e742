"""Literals and words that mean something else in C++."""

from __future__ import annotations

import datetime as dt
import re

from mt5bridge.emulator.translate.tokens import Token, TokenKind, tokenize_text

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,4})|(.))", re.DOTALL)
_WORDS = {
    "NULL": "mql::null",
    "_Symbol": "mql::Symbol()",
    "_Point": "mql::Point()",
    "_Digits": "mql::Digits()",
    "_Period": "mql::Period()",
    "_LastError": "mql::last_error()",
    "_StopFlag": "mql::IsStopped()",
    "_UninitReason": "mql::UninitializeReason()",
    "__FILE__": "mql::string(__FILE__)",
    "__FUNCTION__": "mql::string(__FUNCTION__)",
    "__FUNCSIG__": "mql::string(__PRETTY_FUNCTION__)",
    "sizeof": "(int)sizeof",
    "printf": "PrintFormat",
}
_PASTED = re.compile(r"(##|#\s*[A-Za-z_]\w*)")  # of parameters of a macro
_LONG_MAX = 2**63 - 1
_COLOR_MAX = 255
_DECLARED = 3  # type, name, =
_OTHER_LANGUAGE = {
    "goto": "use loops and conditions",
    "auto": "name the type",
    "nullptr": "write NULL",
    "try": "return false on failure",
    "catch": "return false on failure",
    "throw": "return false on failure",
    "using": "use typedef or the type itself",
    "friend": "make the member public",
    "constexpr": "write const",
    "static_cast": "write (type)value",
    "reinterpret_cast": "use a union",
    "const_cast": "drop the const",
    "unsigned": "write uchar, ushort, uint or ulong",
    "signed": "write char, short, int or long",
    "and": "write &&",
    "or": "write ||",
    "not": "write !",
    "xor": "write ^",
    "inline": "leave it out",
    "explicit": "leave it out",
    "mutable": "make the method not const",
    "register": "use another name",
    "volatile": "leave it out",
    "asm": "use another name",
    "requires": "use another name",
    "concept": "use another name",
    "export": "use another name",
    "decltype": "name the type",
    "typeid": "use dynamic_cast",
}


def decode(token: Token) -> str:
    """The characters a string or character literal stands for."""

    def escaped(match: re.Match[str]) -> str:
        code, letter = match.groups()
        return chr(int(code, 16)) if code else _ESCAPES.get(letter, letter)

    return _ESCAPE.sub(escaped, token.text[1:-1])


def cpp_text(text: str) -> str:
    """A C++ literal of UTF-16 text."""
    pieces = []
    for character in text:
        code = ord(character)
        if character in '"\\':
            pieces.append("\\" + character)
        elif 0x20 <= code < 0x7F:
            pieces.append(character)
        elif code < 0xA0:
            pieces.append(f"\\{code:03o}")
        elif 0xD800 <= code <= 0xDFFF:
            pieces.append(f'\\x{code:x}" u"')
        else:
            pieces.append(f"\\U{code:08x}")
    return 'u"' + "".join(pieces) + '"'


def _date(token: Token) -> str:
    match = re.fullmatch(
        r"D'(?:(\d{4})\.(\d{1,2})\.(\d{1,2}))?(?:\s*(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?)?'",
        token.text,
    )
    if match is None or not match.group(1):
        raise token.error("a date that is not understood", "write D'2026.01.31 23:59:59'")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError as error:
        raise token.error(f"no such date: {error}", "write D'2026.01.31 23:59:59'") from None
    return f"mql::datetime({int(moment.timestamp())}L)"


def _color(token: Token) -> str:
    try:
        red, green, blue = (int(part.strip(), 0) for part in token.text[2:-1].split(","))
    except ValueError:
        raise token.error("a color that is not understood", "write C'255,128,0'") from None
    if not all(0 <= part <= _COLOR_MAX for part in (red, green, blue)):
        raise token.error("a color beyond 255", "write C'255,128,0'")
    return f"mql::color({red | green << 8 | blue << 16})"


def rewrite_literals(tokens: list[Token]) -> list[Token]:
    """The tokens with every literal and special word as C++ has it."""
    out: list[Token] = []
    for token in tokens:
        previous = out[-1] if out else None
        if token.kind is TokenKind.DIRECTIVE:
            _rewrite_define(token)
        elif token.kind is TokenKind.STRING:
            if previous is not None and previous.text.startswith("MQL_TEXT("):
                previous.text = f"{previous.text[:-1]} {cpp_text(decode(token))})"
                continue
            token.text = f"MQL_TEXT({cpp_text(decode(token))})"
        elif _is_no_enumeration(out[-3:], token):
            token.text = "mql::zero"
        elif token.kind is not TokenKind.OPERATOR or token.text == "->":
            _rewrite_word(token, previous)
        out.append(token)
    return out


def _is_no_enumeration(before: list[Token], token: Token) -> bool:
    """The 0 of `ENUM_X name = 0`, which needs no cast."""
    if token.text != "0" or len(before) < _DECLARED:
        return False
    type_, name, equals = before
    is_enumeration = type_.kind is TokenKind.NAME and type_.text.startswith("ENUM_")
    return is_enumeration and name.kind is TokenKind.NAME and equals.text == "="


def _rewrite_word(token: Token, previous: Token | None) -> None:
    if token.kind is TokenKind.CHARACTER:
        token.text = f"mql::ushort({ord(decode(token))})"
    elif token.kind is TokenKind.DATE:
        token.text = _date(token)
    elif token.kind is TokenKind.COLOR:
        token.text = _color(token)
    elif token.kind is TokenKind.NUMBER:
        if token.text.isdigit() and int(token.text) > _LONG_MAX:
            token.text += "UL"  # C++ wants to be told that it is an ulong
    elif token.text == "->":
        raise token.error("MQL5 has no ->", "write a dot")
    elif token.text in _OTHER_LANGUAGE:
        raise token.error(f"{token.text} is not MQL5", _OTHER_LANGUAGE[token.text])
    elif token.text == "namespace":
        raise token.error("namespaces are not part of the emulated terminal", "prefix the names")
    elif token.text in _WORDS and (previous is None or previous.text != "."):
        token.text = _WORDS[token.text]


def _rewrite_define(token: Token) -> None:
    head, name, body = _define_parts(token)
    token.head = f"{head}{name} "
    inner: list[Token] = []
    for piece in _PASTED.split(body):
        if _PASTED.fullmatch(piece):
            text = piece if piece == "##" else f"mql::string({piece})"
            inner.append(Token(TokenKind.TYPE, text, token.file, token.line, token.column))
        else:
            inner += tokenize_text(token.file, piece, token.line, token.column)
    token.body = rewrite_literals(inner)
    write_define(token)


def write_define(token: Token) -> None:
    """The text of a #define out of its body."""
    token.text = token.head + " ".join(f"{one.before}{one.text}{one.after}" for one in token.body)


def _define_parts(token: Token) -> tuple[str, str, str]:
    text = token.text.replace("\\\r\n", " ").replace("\\\n", " ")
    match = re.fullmatch(r"(#\s*(?:define|undef)\s+)(\w+(?:\([^)]*\))?)(.*)", text, re.DOTALL)
    if match is None:
        raise token.error("a #define that is not understood", "write #define NAME value")
    return match.group(1), match.group(2), match.group(3).strip()
