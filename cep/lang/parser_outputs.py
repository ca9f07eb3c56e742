"""What a query does with its rows: insert, delete, update, return."""

from __future__ import annotations

from cep.lang.ast import (
    Assignment,
    Delete,
    Expression,
    Insert,
    Name,
    Output,
    Return,
    Update,
)
from cep.lang.errors import Source
from cep.lang.parser_states import StateParser
from cep.lang.tokens import Role

EVENT_KINDS = ("all", "current", "expired")


class OutputParser(StateParser):
    """Output clauses; `inner_blocks` are the token ranges of queries inside partitions."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.inner_blocks: list[tuple[int, int]] = []

    def output(self) -> Output:
        """The last clause of a query."""
        start = self.token.span.start
        if self.take_word("return", role=Role.CLAUSE):
            return Return(self.event_kind("current"), span=self.since(start))
        if self.take_word("insert", role=Role.CLAUSE):
            return self._insert(start)
        if self.take_word("delete", role=Role.CLAUSE):
            return self._delete(start)
        self.expect_word("update", Role.CLAUSE)
        return self._update(start)

    def event_kind(self, default: str) -> str:
        """`[all|current|expired] events`, or nothing."""
        if self.take_word("events"):
            return "current"
        for kind in EVENT_KINDS:
            if self.take_word(kind, "events"):
                return kind
        if self.token.keyword in EVENT_KINDS:
            hint = f"write `{self.token.keyword} events`"
            following = self.peek().keyword
            if following in ("into", "", "set", "on", "event"):
                raise self.error(self.token.span, "`events` is missing", hint)
        return default

    def _insert(self, start: int) -> Insert:
        events = self.event_kind("current")
        self.expect_word("into", hint="write `insert into STREAM`")
        marker = self.marker()
        target = self.expect_name("a stream, table or window")
        return Insert(target, events, marker, span=self.since(start))

    def _delete(self, start: int) -> Delete:
        table, events = self._table("delete"), self._for_events()
        return Delete(table, events, self._on("delete"), span=self.since(start))

    def _update(self, start: int) -> Update:
        or_insert = self.take_word("or")
        if or_insert:
            self.expect_word("insert", hint="write `update or insert into TABLE on ..`")
            self.expect_word("into", hint="write `update or insert into TABLE on ..`")
        table, events = self._table("update"), self._for_events()
        assignments = self._assignments()
        on = self._on("update")
        return Update(table, events, on, assignments, or_insert, span=self.since(start))

    def _table(self, verb: str) -> Name:
        if self.at("#") or self.at("!"):
            raise self.error(self.token.span, f"only a table can be {verb}d", "name a table")
        if self.at_word("from") and verb == "delete":
            hint = "write `delete TABLE on condition`"
            raise self.error(self.token.span, "`delete` takes no `from`", hint)
        return self.expect_name("a table")

    def _for_events(self) -> str:
        if not self.take_word("for"):
            return "current"
        hint = "`for all events`, `for current events` or `for expired events`"
        if self.token.keyword not in (*EVENT_KINDS, "events"):
            raise self.unexpected("`all`, `current` or `expired`", hint)
        return self.event_kind("current")

    def _assignments(self) -> tuple[Assignment, ...]:
        if not self.take_word("set", role=Role.CLAUSE):
            return ()
        assignments = [self._assignment()]
        while self.take(","):
            assignments.append(self._assignment())
        return tuple(assignments)

    def _assignment(self) -> Assignment:
        target = self.reference("write `set TABLE.attribute = value`")
        if self.at("=="):
            raise self.error(self.token.span, "unexpected `==`", "`set` assigns with `=`")
        self.expect("=", hint="write `set TABLE.attribute = value`")
        return Assignment(target, self.expression(), span=self.since(target.span.start))

    def _on(self, verb: str) -> Expression:
        hint = f"say which rows: `{verb} TABLE on TABLE.key == key` (`on true` for all)"
        self.expect_word("on", Role.CLAUSE, hint)
        return self.expression()
