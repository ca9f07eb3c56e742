"""The language: numbers, texts, arrays and records."""

from __future__ import annotations

from mt5bridge.terminal.assumptions.base import NONE, REPORT, YES, Assumption, Between, Only
from mt5bridge.terminal.findings import Level

_PROBLEM = Level.PROBLEM
_WRITER, _READER = "Wire/ByteWriter.mqh", "Wire/ByteReader.mqh"
_HASH, _CRC = "Market/TickHash.mqh", "Wire/Crc32.mqh"

_RFC_4231 = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"

LANGUAGE = (
    Assumption(
        "array.sort_ulong", "how ArraySort orders ulong above 2^63", "",
        Only(("unsigned", "signed")), ("Market/TickLedger.mqh", "Orders/OrderPlanner.mqh"),
        "ArraySort", REPORT, _PROBLEM,
    ),
    Assumption(
        "array.resize_keeps", "ArrayResize keeps what is in the array", "it does", YES,
        ("Market/LedgerFile.mqh", _WRITER), "ArrayResize", REPORT, _PROBLEM,
    ),
    Assumption(
        "array.copy_grows", "ArrayCopy makes a dynamic array longer that is too short", "it does",
        YES, ("Link/ZmtpBytes.mqh",), "ArrayCopy", REPORT, _PROBLEM,
    ),
    Assumption(
        "array.remove_shifts", "ArrayRemove moves the rest forward and shortens the array",
        "it does", YES, ("Session/DealOutbox.mqh", "Session/Outbox.mqh"), "ArrayRemove", REPORT,
        _PROBLEM,
    ),
    Assumption(
        "record.tick_bytes", "bytes of MqlTick", "its members have 60", Only((60,)),
        (_WRITER, _READER), "TICK_BYTES", REPORT, _PROBLEM,
    ),
    Assumption(
        "record.deal_bytes", "bytes of a deal record", "its members have 252", Only((252,)),
        ("Wire/Frames.mqh",), "struct DealRecord", REPORT, _PROBLEM,
    ),
    Assumption(
        "record.packed_bytes", "bytes of a uchar, a double, a uchar and an int",
        "14: structures are packed", Only((14,)), ("Market/LedgerFile.mqh", "Deals/DealFile.mqh"),
        "struct", REPORT, _PROBLEM,
    ),
    Assumption(
        "record.at_offset", "StructToCharArray at an offset leaves the bytes around it", "it does",
        YES, (_WRITER,), "StructToCharArray", REPORT, _PROBLEM,
    ),
    Assumption(
        "record.little_endian", "numbers have their lowest byte first", "", YES,
        (_WRITER, _READER), "StructToCharArray|CharArrayToStruct", REPORT, _PROBLEM,
    ),
    Assumption(
        "record.from_offset", "CharArrayToStruct at an offset", "it does", YES, (_READER,),
        "CharArrayToStruct", REPORT, _PROBLEM,
    ),
    Assumption(
        "text.char_array_count", "bytes that StringToCharArray gives for A and the euro sign in "
        "UTF-8", "5: four and the 0 at the end", Only((4, 5)), ("Wire/Utf8.mqh",),
        "StringToCharArray", REPORT, _PROBLEM,
    ),
    Assumption(
        "text.char_array_last", "the last of them", "0", Only((0, 0xAC)), ("Wire/Utf8.mqh",),
        "StringToCharArray", REPORT,
    ),
    Assumption(
        "text.pair_length", "StringLen of one character beyond the plane", "strings are UTF-16",
        Only((2,)), ("Wire/Utf8.mqh",), "CP_UTF8", REPORT,
    ),
    Assumption(
        "text.null_length", "StringLen of a string that is NULL", "0", NONE, ("Wire/Utf8.mqh",),
        r"StringLen\(text\) == 0", REPORT,
    ),
    Assumption(
        "text.null_is_empty", 'NULL == "" for strings', "NULL is another than \"\"",
        Only((True, False)), ("Session/Session.mqh",), "identity", REPORT,
    ),
    Assumption(
        "text.format_i64", "%I64d and %I64u of the least long and the greatest ulong",
        "formats of 64 bits", Only(("-9223372036854775808 18446744073709551615",)),
        ("Orders/OrderResults.mqh", "PublisherStatus.mqh"), "%I64", REPORT,
    ),
    Assumption(
        "text.format_hex", "%08x_%04X of 0xABCDEF and 0x2F", "as in C", Only(("00abcdef_002F",)),
        ("Orders/OrderRequest.mqh", "Account.mqh"), "%08x|%04X",
        "do not trade with it: ids in comments would not be found. Tell us", _PROBLEM,
    ),
    Assumption(
        "text.format_g", "%.8g of 0.01 and 1234567.5", "as in C", Only(("0.01 1234567.5",)),
        ("Orders/RiskGuard.mqh",), r"%\.8g", REPORT,
    ),
    Assumption(
        "text.double_to_string", "DoubleToString(1.100004, 5)", "rounded", Only(("1.10000",)),
        ("Orders/SymbolRules.mqh",), "DoubleToString", REPORT,
    ),
    Assumption(
        "text.hmac_sha256", "HMAC-SHA256 by CryptEncode, of RFC 4231's second case",
        "CryptEncode has SHA-256", Only((_RFC_4231,)), ("Session/Hmac.mqh",), "CryptEncode",
        "no daemon lets this terminal in. Tell us", _PROBLEM,
    ),
    Assumption(
        "text.integer_to_string", "IntegerToString of the least long", "it has it", YES,
        ("Account.mqh",), "IntegerToString", REPORT,
    ),
    Assumption(
        "number.ulong_wraps", "the greatest ulong and 1 is 0", "it is", YES, (_HASH,),
        "HASH_MULTIPLIER", REPORT, _PROBLEM,
    ),
    Assumption(
        "number.product_wraps", "products of ulong keep the lower 64 bits", "", YES, (_HASH,),
        r"\* HASH_MULTIPLIER", REPORT, _PROBLEM,
    ),
    Assumption(
        "number.shift_unsigned", ">> of an ulong brings zeros", "it does", YES, (_HASH, _CRC),
        ">>", REPORT, _PROBLEM,
    ),
    Assumption(
        "number.normalize_8", "NormalizeDouble(0.1 + 0.2, 8) == 0.3", "to 8 digits", YES,
        ("Orders/SymbolRules.mqh", "Orders/OrderPlanner.mqh"), "NormalizeDouble", REPORT,
    ),
    Assumption(
        "number.round_half_away", "MathRound of 2.5 and -2.5 is 3 and -3", "to the nearest", YES,
        ("Orders/SymbolRules.mqh",), "MathRound", REPORT,
    ),
    Assumption(
        "number.divides_toward_zero", "-7 / 2 is -3, and -7 % 2 is -1", "as in C", YES,
        ("Market/ServerClock.mqh",), "OFFSET_STEP_S", REPORT,
    ),
    Assumption(
        "number.union_shows_bits", "a double's bits through a union", "members share the memory",
        YES, ("Wire/DoubleBits.mqh",), "union", REPORT, _PROBLEM,
    ),
    Assumption(
        "number.random_15_bits", "MathRand gives 0 to 32,767", "it does", YES, ("Account.mqh",),
        "MathRand", REPORT,
    ),
    Assumption(
        "error.after_reset", "GetLastError after ResetLastError", "0", NONE,
        ("Market/TickBase.mqh", "Market/TickRecount.mqh", "Link/Socket.mqh"), "ResetLastError",
        REPORT, _PROBLEM,
    ),
    Assumption(
        "variable.absent", "GlobalVariableDel removes a variable of the terminal", "it does", YES,
        ("Orders/KillSwitch.mqh",), "GlobalVariableCheck", REPORT,
    ),
    Assumption(
        "variable.set", "a variable of the terminal is there at once", "it is", YES,
        ("Orders/KillSwitch.mqh",), "GlobalVariableGet",
        "halt by `mt5cep orders halt` or the file HALT, not by a variable", _PROBLEM,
    ),
    Assumption(
        "symbol.digits", "digits of the chart's symbol", "", Between(0, 8),
        ("Orders/SymbolRules.mqh",), "m_digits", "do not trade this symbol; tell us", varies=True,
    ),
    Assumption(
        "symbol.volume_step", "least step of lots", "", Between(1e-8, 1e9),
        ("Orders/SymbolRules.mqh",), "m_volume_step", "do not trade this symbol; tell us",
        varies=True,
    ),
    Assumption(
        "symbol.volume_step_kept", "the step of lots has 8 digits at most", "", YES,
        ("Orders/SymbolRules.mqh",), r"NormalizeDouble\(steps", "do not trade this symbol; tell us",
    ),
    Assumption(
        "symbol.volume_min_in_steps", "the least lots are a number of steps", "", YES,
        ("Orders/SymbolRules.mqh",), "m_volume_step", "do not trade this symbol; tell us",
    ),
    Assumption(
        "symbol.stops_level_points", "how near to the market stops and pending orders may be set",
        "", Between(0, 100_000), ("Orders/SymbolRules.mqh",), "m_stops_level",
        "no stop and no pending order can be set: ask the broker", varies=True,
    ),
    Assumption(
        "symbol.freeze_level_points", "how near to the market nothing can be changed, cancelled or "
        "closed", "", Between(0, 100_000), ("Orders/SymbolRules.mqh",), "m_freeze_level",
        "nothing with a stop can be closed by an order: ask the broker", varies=True,
    ),
    Assumption(
        "symbol.tick_size_known", "the symbol tells its tick size", "", YES,
        ("Orders/SymbolRules.mqh",), "m_tick_size", "prices are rounded to points instead; tell us",
    ),
    Assumption(
        "account.server_known", "the account's server has a name", "it has", YES, ("Account.mqh",),
        "ACCOUNT_SERVER", "log in to the account, then run the script again",
    ),
)  # fmt: skip
