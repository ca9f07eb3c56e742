"""MQL5's functions and types that the emulated terminal does not have, by family."""

from __future__ import annotations

import re

_BARS = "bars and built-in indicators are not part of the emulated terminal"
_CHARTS = "objects on charts are not part of the emulated terminal"
_TESTER = "the Strategy Tester is not part of the emulated terminal"
_FAMILIES = [
    (r"i(?:AC|AD|ADX|ADXWilder|Alligator|AMA|AO|ATR|BearsPower|Bands|BullsPower|BWMFI|CCI|Chaikin"
     r"|DEMA|DeMarker|Envelopes|Force|Fractals|FrAMA|Gator|Ichimoku|MA|MACD|MFI|Momentum|OBV|OsMA"
     r"|RSI|RVI|SAR|StdDev|Stochastic|TEMA|TriX|VIDyA|Volumes|WPR)", _BARS),
    (r"i(?:Bars|BarShift|Close|High|Highest|Low|Lowest|Open|RealVolume|Spread|Time|TickVolume"
     r"|Volume)|Bars|Series\w+|Copy(?:Buffer|Rates|Time|Open|High|Low|Close|TickVolume|RealVolume"
     r"|Spread)|Chart(?:IndicatorAdd|IndicatorGet|IndicatorDelete|IndicatorName|IndicatorsTotal)",
     _BARS),
    (r"SetIndexBuffer|PlotIndex\w+|Indicator(?:Set|Parameters)\w*|INDICATOR_\w+|MODE_\w+|PRICE_\w+"
     r"|PLOT_\w+|DRAW_\w+|MqlRates"
     r"|ENUM_(?:MA_METHOD|APPLIED_\w+|STO_PRICE)|STO_\w+|VOLUME_(?:TICK|REAL)", _BARS),
    (r"Object\w+|OBJ(?:PROP)?_\w+|ANCHOR_\w+|CORNER_\w+|STYLE_\w+|Text(?:Out|SetFont|GetSize)"
     r"|Resource\w+|Chart\w+|CHART_\w+", _CHARTS),
    (r"Web\w+|Send(?:Mail|Notification|FTP)|PlaySound|MessageBox",
     "it reaches outside of the emulated terminal"),
    (r"Tester\w+|Frame\w+|Parameter(?:Get|Set)Range|STAT_\w+", _TESTER),
    (r"Database\w+|DX\w+|CL[A-Z]\w+|Calendar\w+|Custom\w+|Signal\w+|matrix|vector|complex\w*"
     r"|Onnx\w+|File(?:Get|Select)\w+|FILE_\w+", "it is not part of the emulated terminal"),
    (r"clr[A-Z]\w*", "no web colour of the reference; write C'255,128,0'"),
]  # fmt: skip


def missing(name: str) -> str:
    """Why the emulated terminal has no such function or constant; empty: no reason is known."""
    return next((why for names, why in _FAMILIES if re.fullmatch(names, name)), "")
