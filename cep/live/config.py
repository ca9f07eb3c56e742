"""The daemon's settings: one TOML file, every key checked, every default visible."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from cep.account.account_file import AccountFile, AccountFileError, read_account
from cep.account.slippage import SlippageError, slippage_of
from mt5bridge.aliases import AliasError, alias_table
from mt5bridge.credential import FILE, USER, Credential, credential_fault
from mt5bridge.grant import Grant
from mt5bridge.local import PUBLISH, AddressError, local
from mt5bridge.orders import Defaults, Limits, NamedLimits
from mt5bridge.orders.limits import MINUTES_A_DAY
from mt5bridge.server import Settings
from mt5bridge.settings_errors import told

MAIN = "main"
"""Names the rule file of `[rules]`."""
ORDERS = "orders"
"""Names what comes of `[orders]` where rule files are named."""
_RULE_FILES = "rules.NAME"
PARAMETERS = "parameters"
"""The key of `[rules]` that is a table, and no name of a rule file."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
MOST = 1_000_000_000
"""More than anybody means, and little enough that sums of such numbers fit everywhere."""
AtLeastOne: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
NotNegative: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Size: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
AboveZero: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=MOST)]
Magic: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Named: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Level: TypeAlias = Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"]


class ConfigError(ValueError):
    """A settings file that cannot be used; the message names file, key and remedy."""


class Listen(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[server]`: where terminals connect."""

    bind: str = "tcp://127.0.0.1:5655"
    heartbeat_ms: AtLeastOne = 1_000
    timeout_ms: AtLeastOne = 5_000
    window_records: AtLeastOne = 65_536
    terminals_max: AtLeastOne = 64
    identities_max: AtLeastOne = 10_000
    symbols_max: AtLeastOne = 10_000
    ahead_max_minutes: AtLeastOne = 1_440
    connections_max: AtLeastOne = 1_024
    message_max_mib: AtLeastOne = 64
    streams_max: AtLeastOne = 131_072
    requests_max: AtLeastOne = 10_000
    events_max: AtLeastOne = 10_000
    bindings_max: AtLeastOne = 65_536
    memory_max_mib: NotNegative = 0
    users: dict[str, str] = {}
    curve_bind: str = ""
    allow_plain: bool = True
    allow_insecure: bool = False

    def settings(
        self,
        own: Credential,
        passwords: dict[str, str] | None = None,
        grants: dict[str, Grant] | None = None,
    ) -> Settings:
        """For the server; `own` is the daemon's credential, let in beside `users`. `passwords` are
        those of all that are let in, if there are more, and `grants` what they may do.
        """
        return Settings(
            bind=self.bind,
            heartbeat_ms=self.heartbeat_ms,
            timeout_ms=self.timeout_ms,
            window_records=self.window_records,
            terminals_max=self.terminals_max,
            identities_max=self.identities_max,
            symbols_max=self.symbols_max,
            ahead_max_ms=60_000 * self.ahead_max_minutes,
            connections_max=self.connections_max,
            message_mib_max=self.message_max_mib,
            streams_max=self.streams_max,
            signals_max=self.requests_max,
            events_max=self.events_max,
            passwords=passwords or {**self.users, own.user: own.password},
            grants=grants or {},
            allow_plain=self.allow_plain,
            allow_insecure=self.allow_insecure,
            program="mt5cep",
        )


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[rules]`: what runs."""

    file: Path
    functions: list[Path] = []
    callback: Path | None = None
    streams: list[str] | None = None
    parameters: dict[str, str | int | float | bool] = {}
    numba: bool = True
    watch_ms: NotNegative = 1_000
    warm_up_days: Size = 0.0
    file_max_kib: AtLeastOne = 1_024
    texts_max: AtLeastOne = 1_000_000


class Limited(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all signals and orders, or those of one rule file, may do at most; 0: no limit."""

    lots_per_order: Size = 0.0
    lots_per_symbol: Size = 0.0
    lots_per_day: Size = 0.0
    orders_per_minute: NotNegative = 0
    symbols: list[str] = []
    loss_per_day: Size = 0.0

    def limits(self) -> Limits:
        return Limits(
            lots_per_order=self.lots_per_order,
            lots_per_symbol=self.lots_per_symbol,
            lots_per_day=self.lots_per_day,
            orders_per_minute=self.orders_per_minute,
            symbols=tuple(self.symbols),
            loss_per_day=self.loss_per_day,
        )


class RuleFile(Limited, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[rules.NAME]`: one more rule file beside that of `[rules]`."""

    file: Path
    magic: Magic
    callback: Path | None = None
    streams: list[str] | None = None
    warm_up_days: Size = 0.0
    parameters: dict[str, str | int | float | bool] = {}
    send: bool = True
    terminal: Named | None = None
    valid_seconds: AtLeastOne | None = None


class Store(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[spool]`: what is kept on disk before it is archived."""

    folder: Path = Path("spool")
    segment_mib: AtLeastOne = 64
    segment_minutes: AtLeastOne = 60
    max_mib: AtLeastOne = 8_192
    waiting_max_mib: AtLeastOne = 256
    specifications_max_mib: AtLeastOne = 64


class Archiving(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[archive]`: where sealed segments go; no folder, no archiving."""

    folder: Path | None = None
    every_seconds: AtLeastOne = 60


class StateFolder(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[state]`: snapshots of the rules' state and the journal of output rows."""

    folder: Path = Path("state")
    snapshot_records: AtLeastOne = 1_000_000
    clock_every_ms: NotNegative = 1_000
    away_ms: AtLeastOne = 60_000
    journal: Path | None = Path("events.jsonl")
    journal_mib: NotNegative = 64
    journal_files: AtLeastOne = 16
    bad_files: AtLeastOne = 16


class OnDatabase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[database]`: where queries run; no URL, in our engine."""

    url: str | None = None
    durable: bool = True
    prefix: str = "mt5cep_"


class Trading(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[signals]`: what is sent back to terminals; off by default."""

    send: bool = False
    terminal: Named | None = None
    magic: Magic = 77
    valid_seconds: AtLeastOne = 60


class Ordering(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[orders]`: orders of callbacks and of `mt5cep orders send`; off by default."""

    send: bool = False
    terminal: Named | None = None
    magic: Magic = 78
    valid_seconds: NotNegative = 60
    deviation_points: NotNegative = 20
    keep_days: AtLeastOne = 30
    journal_max_mib: AtLeastOne = 1_024
    results_max: AtLeastOne = 1_000

    def defaults(self) -> Defaults:
        return Defaults(
            terminal=self.terminal,
            magic=self.magic,
            valid_seconds=self.valid_seconds,
            deviation_points=self.deviation_points,
        )


class Risk(Limited, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[risk]`: what signals and orders may do at most; 0: no limit."""

    lots_assumed: AboveZero = 1.0
    day_begins_minutes: Annotated[int, msgspec.Meta(ge=0, lt=MINUTES_A_DAY)] = 0
    dry_run: bool = False

    def limits(self) -> Limits:
        return replace(
            super().limits(),
            lots_assumed=self.lots_assumed,
            day_begins_minutes=self.day_begins_minutes,
            dry_run=self.dry_run,
        )


class OnPaper(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[paper]`: the account of `daemon --paper`, as the options of `backtest` name it."""

    account: Path | None = None
    hedging: bool = False
    latency_ms: NotNegative = 0
    slippage_points: Size | str = 0.0


class Logging(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[log]`: a file beside standard error; no file, none."""

    file: Path | None = None
    format: Literal["text", "json"] = "text"
    file_max_mib: AtLeastOne = 16
    files: AtLeastOne = 8


class Metrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[metrics]`: where Prometheus and health checks ask; nowhere by default."""

    bind: str | None = None
    allow_others: bool = False


class Alerting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """`[alerts]`: who is told of what fails; nobody by default."""

    urls: list[str] = []
    level: Literal["WARNING", "ERROR"] = "ERROR"
    per_hour: AtLeastOne = 20
    repeat_minutes: AtLeastOne = 60


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A daemon's settings; folders and files are relative to the settings file."""

    rules: Rules
    server: Listen = Listen()
    spool: Store = Store()
    archive: Archiving = Archiving()
    state: StateFolder = StateFolder()
    database: OnDatabase = OnDatabase()
    signals: Trading = Trading()
    orders: Ordering = Ordering()
    risk: Risk = Risk()
    paper: OnPaper = OnPaper()
    log: Logging = Logging()
    metrics: Metrics = Metrics()
    alerts: Alerting = Alerting()
    log_level: Level = "INFO"
    aliases: dict[str, str | dict[str, str]] = {}
    rule_files: dict[str, RuleFile] = msgspec.field(name=_RULE_FILES, default_factory=dict)

    def of(self, name: str) -> Config:
        """The settings as those of one of `rule_files`: with its own state, magic and signals."""
        one, state, signals = self.rule_files[name], self.state, self.signals
        folder = rules_folder(self, name)
        changed = msgspec.structs.replace
        return changed(
            self,
            rule_files={},
            rules=changed(
                self.rules,
                file=one.file,
                callback=one.callback,
                streams=one.streams,
                warm_up_days=one.warm_up_days,
                parameters=one.parameters,
            ),
            state=changed(
                state,
                folder=folder,
                journal=folder / state.journal.name if state.journal else None,
            ),
            signals=changed(
                signals,
                send=signals.send and one.send,
                magic=one.magic,
                terminal=one.terminal or signals.terminal,
                valid_seconds=one.valid_seconds or signals.valid_seconds,
            ),
        )


def each_file(config: Config) -> list[Config]:
    """The settings of each rule file, that of `[rules]` first."""
    return [config, *map(config.of, config.rule_files)]


def limits_of(config: Config) -> Limits:
    """What signals and orders may do at most, all together and those of each rule file."""
    usual = config.risk.limits()
    named = [NamedLimits(MAIN, config.signals.magic, _own_limits(usual, None))]
    for name, one in config.rule_files.items():
        named.append(NamedLimits(name, one.magic, _own_limits(usual, one)))
    return replace(usual, named=tuple(named))


def others_of(config: Config) -> dict[int, str]:
    """What has no limits of its own and a magic number: orders, by the name of their settings."""
    return {config.orders.magic: ORDERS}


def _own_limits(usual: Limits, one: RuleFile | None) -> Limits:
    """Of one rule file, counted as those of all are; None: no limit."""
    own = Limits() if one is None else one.limits()
    return replace(
        own, lots_assumed=usual.lots_assumed, day_begins_minutes=usual.day_begins_minutes
    )


def rules_folder(config: Config, name: str) -> Path:
    """Where the state and the rows of one of `rule_files` are."""
    return config.state.folder / "rules" / name


def read_config(path: Path) -> Config:
    """Settings with all paths made absolute. ConfigError names the place and the remedy."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        named = _parted(path, data)
        _check_archive(path, data)
        config = msgspec.convert(data, Config, dec_hook=_path)
        config = msgspec.structs.replace(config, rule_files=named)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; config/daemon.toml is an example") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path}: not TOML: {problem}") from None
    except OSError as problem:
        raise ConfigError(f"{path}: {problem.strerror}") from None
    except msgspec.ValidationError as problem:
        said = told(problem, Config)
        raise ConfigError(f"{path}: {said}; docs/operate.md lists every key") from None
    _check(path, config)
    return _absolute(config, path.resolve().parent)


def _check_archive(path: Path, data: dict[str, Any]) -> None:
    """ConfigError for an archive in an object store, which is read and not written."""
    archive = data.get("archive")
    folder = archive.get("folder") if isinstance(archive, dict) else None
    try:
        local(folder if isinstance(folder, str) else "", PUBLISH)
    except AddressError as problem:
        raise ConfigError(f"{path}: `archive.folder`: {problem}") from None


def _parted(path: Path, data: dict[str, Any]) -> dict[str, RuleFile]:
    """Take the tables `[rules.NAME]` out of the data. ConfigError names table, key and remedy."""
    rules = data.get("rules")
    if _RULE_FILES in data:
        raise ConfigError(f"{path}: `{_RULE_FILES}` in quotes: write [rules.NAME] with your name")
    if not isinstance(rules, dict):
        return {}
    found = {}
    tables = [name for name, table in rules.items() if isinstance(table, dict)]
    for name in filter(PARAMETERS.__ne__, tables):
        try:
            found[name] = msgspec.convert(rules.pop(name), RuleFile, dec_hook=_path)
        except msgspec.ValidationError as problem:
            said = f"[rules.{name}] {told(problem, RuleFile)}"
            raise ConfigError(f"{path}: {said}; docs/operate.md lists every key") from None
    return found


def with_more(
    config: Config, files: Iterable[Path], parameters: Mapping[str, str] | None = None
) -> Config:
    """The settings with more files of functions, and other values for parameters of `[rules]`."""
    rules = msgspec.structs.replace(
        config.rules,
        functions=[*config.rules.functions, *files],
        parameters={**config.rules.parameters, **(parameters or {})},
    )
    return msgspec.structs.replace(config, rules=rules)


def for_paper(config: Config, given: Mapping[str, Any] | None = None) -> Config:
    """The settings for paper trading: whatever the rules and users want is sent, to the account.

    `given` are keys of `[paper]` that stand over those of the settings.
    ConfigError for queries on a database, which paper trading does not have, and for an account's
    file that cannot be used. OSError.
    """
    if config.database.url is not None:
        raise ConfigError("--paper: leave out [database] url; paper trading has our engine alone")
    config = msgspec.structs.replace(
        config, paper=msgspec.structs.replace(config.paper, **(given or {}))
    )
    return msgspec.structs.replace(
        config,
        risk=_risk_on_paper(config),
        signals=msgspec.structs.replace(config.signals, send=True, terminal=None),
        orders=msgspec.structs.replace(config.orders, send=True, terminal=None),
        rule_files={
            name: msgspec.structs.replace(one, send=True, terminal=None)
            for name, one in config.rule_files.items()
        },
    )


def _risk_on_paper(config: Config) -> Risk:
    """The limits of the settings, or those of the account's file."""
    file = config.paper.account
    try:
        account = AccountFile() if file is None else read_account(file)
    except AccountFileError as problem:
        raise ConfigError(f"{problem}; {problem.hint}") from None
    limits = account.risk
    if limits and config.risk != Risk():
        raise ConfigError(f"{file} has [risk], and so have the settings; leave one of them out")
    return msgspec.convert(limits, Risk) if limits else config.risk


def _check(path: Path, config: Config) -> None:
    """ConfigError for values that are good alone and bad together."""
    _check_users(path, config.server.users)
    _check_rule_files(path, config)
    _check_warm_up(path, config)
    try:
        # The daemon's own credential is made when it starts, not when its settings are read.
        settings = config.server.settings(Credential(USER, "unknown"))
        replace(settings, curve_bind=config.server.curve_bind).check()
    except ValueError as problem:
        raise ConfigError(f"{path}: [server] {problem}") from None
    try:
        alias_table(config.aliases)
    except AliasError as problem:
        raise ConfigError(f"{path}: [aliases] {problem}") from None
    try:
        limits_of(config)
    except ValueError as problem:
        raise ConfigError(f"{path}: [risk] {problem}") from None
    try:
        slippage_of(config.paper.slippage_points)
    except SlippageError as problem:
        raise ConfigError(f"{path}: [paper] {problem}; {problem.hint}") from None
    store = config.spool
    if store.max_mib < 2 * store.segment_mib:
        raise ConfigError(
            f"{path}: [spool] max_mib = {store.max_mib}: use at least twice segment_mib "
            f"({store.segment_mib}), or a full spool holds no sealed segment to archive"
        )


def _check_rule_files(path: Path, config: Config) -> None:
    """ConfigError for rule files that could not be told apart."""
    known = {config.signals.magic: "[signals]", config.orders.magic: "[orders]"}
    for name, one in config.rule_files.items():
        place = f"{path}: [rules.{name}]"
        if not _NAME.fullmatch(name) or name == MAIN:
            raise ConfigError(
                f"{place}: use a name of at most 32 letters, digits, - and _, other than {MAIN}, "
                "the file of [rules]"
            )
        if one.magic in known:
            raise ConfigError(
                f"{place} magic = {one.magic} is that of {known[one.magic]}: give each rule file "
                "one of its own, which tells its positions from those of others"
            )
        known[one.magic] = f"[rules.{name}]"
    if config.rule_files and config.database.url is not None:
        raise ConfigError(
            f"{path}: [rules.{next(iter(config.rule_files))}]: with [database] url there is one "
            "rule file; leave out one of both"
        )


def _check_warm_up(path: Path, config: Config) -> None:
    """ConfigError for rules that shall warm up on what is not there."""
    days = {"rules": config.rules.warm_up_days}
    days |= {f"rules.{name}": one.warm_up_days for name, one in config.rule_files.items()}
    for name, wanted in days.items():
        if not wanted:
            continue
        place = f"{path}: [{name}] warm_up_days"
        if config.archive.folder is None:
            raise ConfigError(f"{place}: name the archive that it is of, [archive] folder")


def _check_users(path: Path, users: dict[str, str]) -> None:
    """ConfigError for a user who could be anybody."""
    for user, password in users.items():
        fault = credential_fault(user, password)
        if user == USER:
            fault = f"`{USER}` is the daemon's own user, whose password it makes itself"
        if fault:
            remedy = (
                "give the user another name, or a password; without `users` terminals have the "
                f"credential that the daemon has made, {FILE} in its state folder"
            )
            raise ConfigError(f"{path}: [server] users: {fault}; {remedy}")


def credential_path(config: Config) -> Path:
    """Where a daemon keeps its credential."""
    return config.state.folder / FILE


def _path(type_: type, value: object) -> object:
    if type_ is Path and isinstance(value, str):
        if not value.strip():
            raise ValueError("an empty path; name one, or leave the key out")
        try:
            return local(value)
        except AddressError as problem:
            raise ValueError(str(problem)) from None
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def _absolute(config: Config, base: Path) -> Config:
    """The same settings with paths that start at the settings file."""
    changed = msgspec.structs.replace
    rules, state, archive = config.rules, config.state, config.archive
    state_folder = base / state.folder
    return changed(
        config,
        rules=changed(
            rules,
            file=base / rules.file,
            functions=[base / file for file in rules.functions],
            callback=base / rules.callback if rules.callback else None,
        ),
        rule_files={
            name: changed(
                one,
                file=base / one.file,
                callback=base / one.callback if one.callback else None,
            )
            for name, one in config.rule_files.items()
        },
        spool=changed(config.spool, folder=base / config.spool.folder),
        paper=changed(config.paper, account=_under(base, config.paper.account)),
        log=changed(config.log, file=base / config.log.file if config.log.file else None),
        archive=changed(archive, folder=base / archive.folder if archive.folder else None),
        database=changed(config.database, url=_absolute_url(config.database.url, base)),
        state=changed(
            state,
            folder=state_folder,
            journal=state_folder / state.journal if state.journal else None,
        ),
    )


def _under(base: Path, path: Path | None) -> Path | None:
    return None if path is None else base / path


def _absolute_url(url: str | None, base: Path) -> str | None:
    """The same URL; a database file that starts at the settings file by its whole path."""
    kind, found, file = (url or "").partition(":///")
    if not found or kind not in ("sqlite", "duckdb") or file in ("", ":memory:"):
        return url
    return f"{kind}:///{base / file}"
