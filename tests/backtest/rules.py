"""Rule sets for backtests."""

from __future__ import annotations

TICK = "define stream Tick (symbol string, bid double, ask double, volume double, flags int);"
DEAL = "define stream Deal (symbol string, magic long, comment string, side string, lots double);"
BANDS = """
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
from Mid#window.time(5 min)
select symbol, mid, avg(mid) as ma, stdDev(mid) as sd group by symbol insert into Band;
define engine Tactical (queue = 30 min);
define event Up in Tactical for each symbol as Band[mid > ma + sd] opposite Down;
define event Down in Tactical for each symbol as Band[mid < ma - sd];
define event Below in Tactical for each symbol as Band[mid < ma] repeat refresh;
"""
REVERSALS = """
define complex Reversal in Tactical for each symbol as Up followed by (Down or Below) within 9 min;
define signal Fade on Reversal sell 0.10 lots stop 20 points target 30 points for 30 min;
"""
FILLS = """
define event Leg in Tactical for each symbol as every Deal[magic == 77] repeat allow;
define event Named in Tactical for each symbol as Deal[comment == 'leg 1' and side == 'buy'];
define complex Reversal in Tactical for each symbol as Up followed by (Down or Below) within 9 min;
define complex Filled in Tactical for each symbol as Up and (Leg or Named) within 20 min;
from Deal select symbol, comment, lots * 2.0 as twice insert into Copies;
define engine Portfolio (queue = 3 hours) from Tactical;
define complex Broad in Portfolio as Reversal('EURUSD') and Reversal('GBPUSD') within 2 hours;
define complex Mixed in Portfolio as Filled('^GSPC') followed by Reversal('EURUSD') within 2 hours;
define signal Fade on Reversal sell 0.10 lots stop 20 points target 30 points for 30 min;
define signal Buy on Broad buy 'GBPUSD' 0.2 lots for 1 hour;
define signal Out on Filled close for 1 hour;
"""
MEAN = """
from Tick#window.length(5) select symbol, avg(bid) as mean insert into All;
define event High as All[mean > 1.1];
"""
KEYED = "".join((TICK, BANDS, REVERSALS))
CHAINED = "".join((TICK, DEAL, BANDS, FILLS))
ACROSS = "".join((TICK, MEAN))
