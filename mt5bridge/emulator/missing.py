"""MQL5's functions and types that the emulated terminal does not have, by family."""

from __future__ import annotations

import re

_BARS = "of the indicators iMA, iRSI, iATR and iCustom are part of the emulated terminal"
_BUFFERS = "indicators have no buffers and plots in the emulated terminal"
_CHARTS = "it is not part of the emulated terminal, which draws nothing"
_TESTER = "the Strategy Tester is not part of the emulated terminal"
_FAMILIES = [
    (r"i(?:AC|AD|ADX|ADXWilder|Alligator|AMA|AO|BearsPower|Bands|BullsPower|BWMFI|CCI|Chaikin"
     r"|DEMA|DeMarker|Envelopes|Force|Fractals|FrAMA|Gator|Ichimoku|MACD|MFI|Momentum|OBV|OsMA"
     r"|RVI|SAR|StdDev|Stochastic|TEMA|TriX|VIDyA|Volumes|WPR)"
     r"|ENUM_(?:APPLIED_VOLUME|STO_PRICE)|STO_\w+|VOLUME_(?:TICK|REAL)", _BARS),
    (r"SetIndexBuffer|PlotIndex\w+|Indicator(?:Set|Parameters)\w*|INDICATOR_\w+|PLOT_\w+|DRAW_\w+"
     r"|MODE_\w+|Chart(?:IndicatorAdd|IndicatorGet|IndicatorDelete|IndicatorName|IndicatorsTotal)",
     _BUFFERS),
    (r"Object\w+|OBJ(?:PROP)?_\w+|ANCHOR_\w+|CORNER_\w+|STYLE_\w+|Text(?:Out|SetFont|GetSize)"
     r"|Resource\w+|Chart\w+|CHART_\w+", _CHARTS),
    (r"Web\w+|SendFTP|MessageBox", "it reaches outside of the emulated terminal"),
    (r"Tester\w+|Frame\w+|Parameter(?:Get|Set)Range|STAT_\w+", _TESTER),
    (r"Database\w+|DX\w+|CL[A-Z]\w+|Calendar\w+|Custom\w+|Signal\w+|matrix|vector|complex\w*"
     r"|Onnx\w+|File(?:Get|Select)\w+|FILE_\w+", "it is not part of the emulated terminal"),
    (r"clr[A-Z]\w*", "no web colour of the reference; write C'255,128,0'"),
]  # fmt: skip


def missing(name: str) -> str:
    """Why the emulated terminal has no such function or constant; empty: no reason is known."""
    return next((why for names, why in _FAMILIES if re.fullmatch(names, name)), "")
