"""A small reader of TextMate grammars: enough of it to see which scope each character gets."""

from __future__ import annotations

import re
from typing import Any

Rule = dict[str, Any]


class Tokeniser:
    """Gives every character of a text the innermost scope the grammar has for it."""

    def __init__(self, grammar: Rule) -> None:
        self.grammar = grammar
        self.rules = self._flat(grammar["patterns"])

    def _flat(self, patterns: list[Rule]) -> list[Rule]:
        """Includes and groups replaced by what they hold, in order."""
        found: list[Rule] = []
        for rule in patterns:
            if "include" in rule:
                found += self._flat([self.grammar["repository"][rule["include"][1:]]])
            elif "patterns" in rule and "begin" not in rule:
                found += self._flat(rule["patterns"])
            else:
                found.append(rule)
        return found

    def scopes(self, text: str) -> list[str]:
        """The scope of each character; '' where the grammar says nothing."""
        scopes = [""] * len(text)
        place = 0
        while place < len(text):
            found = self._first(text, place)
            if found is None:
                break
            rule, match = found
            end = self._end(rule, match, text)
            self._paint(scopes, rule, match, end)
            place = max(end, match.start() + 1)
        return scopes

    def _first(self, text: str, place: int) -> tuple[Rule, re.Match[str]] | None:
        """The rule that matches first; of several at one place, the first in the grammar."""
        matches = []
        for order, rule in enumerate(self.rules):
            pattern = rule.get("match") or rule["begin"]
            match = re.compile(pattern, re.MULTILINE).search(text, place)
            if match is not None and match.end() > match.start():
                matches.append((match.start(), order, rule, match))
        if not matches:
            return None
        _, _, rule, match = min(matches, key=lambda found: found[:2])
        return rule, match

    def _end(self, rule: Rule, match: re.Match[str], text: str) -> int:
        if "end" not in rule:
            return match.end()
        closing = re.compile(rule["end"]).search(text, match.end())
        return closing.end() if closing else len(text)

    def _paint(self, scopes: list[str], rule: Rule, match: re.Match[str], end: int) -> None:
        for place in range(match.start(), end):
            scopes[place] = rule.get("name", "")
        for group, capture in rule.get("captures", {}).items():
            for place in range(*match.span(int(group))):
                scopes[place] = capture["name"]
