"""Programs that include a library of others, as MetaQuotes' own: written as that one is."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.build import BuildError
from mt5bridge.emulator.script import Script
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.emulator.translate import TranslationError, translate
from tests.emulator.market import needs_compiler, numbered_ticks, texts, write_tick_file
from tests.waiting import LONG_S

TRADE = r"""#include "..\Base.mqh"
class Trading : public Base
  {
private:
   ENUM_ORDER_TYPE   m_type;
   ulong             m_magic;

public:
                     Trading(void) : m_type(WRONG_VALUE), m_magic(7) { }
   bool              Buy(const double lots, const string symbol = NULL, const string comment = "");
   bool              Mine(const long magic) const { return(m_magic == magic); }
   bool              Unset(void) const { return(m_type == WRONG_VALUE); }
   bool              Send(const MqlTradeRequest &request, MqlTradeResult &result)
     {
      return(OrderSend(request, result));
     }
  };

bool Trading::Buy(const double lots, const string symbol = NULL, const string comment = "")
  {
   ENUM_SYMBOL_TRADE_EXECUTION execution = 0;
   int lost = lots * 100;
   MqlTradeRequest request = {};
   MqlTradeResult result = {};
   request.action = TRADE_ACTION_DEAL;
   request.symbol = symbol == NULL ? _Symbol : symbol;
   request.volume = lots;
   request.type = ORDER_TYPE_BUY;
   request.price = SymbolInfoDouble(request.symbol, SYMBOL_ASK);
   request.magic = m_magic;
   request.comment = comment;
   Print(lost, " ", (int)execution);
   return(Send(request, result));
  }
"""
BASE = "class Base { protected: int m_kept; public: Base(void) { m_kept = WRONG_VALUE; } };\n"
PROGRAM = r"""#include <Trading\Trading.mqh>
Trading trading;
int Unused(void) { return(WRONG_VALUE); }
void OnTick(void)
  {
   static bool done = false;
   if(done)
      return;
   done = true;
   Print(trading.Unset(), " ", trading.Mine(7), " ", Unused() == WRONG_VALUE);
   Print(trading.Buy(0.25));
   Print(PositionsTotal());
  }
"""


def written(folder: Path) -> tuple[Path, Path]:
    """A program, and the folder of the library that it includes."""
    library = folder / "Include"
    (library / "Trading").mkdir(parents=True)
    (library / "Trading" / "Trading.mqh").write_text(TRADE)
    (library / "Base.mqh").write_text(BASE)
    program = folder / "Program.mq5"
    program.write_text(PROGRAM)
    return program, library


@needs_compiler
def test_a_library_of_others_is_compiled_and_its_warnings_stop_nothing(tmp_path: Path) -> None:
    program, library = written(tmp_path)
    ticks = write_tick_file(tmp_path / "ticks.bin", numbered_ticks(5))
    script = Script.of(
        "symbol EURUSD digits=5", f"ticks EURUSD path={ticks}", "attach Program on EURUSD",
        "end quiet_ms=50",
    )  # fmt: skip
    folder = tmp_path / "terminal"
    with EmulatedTerminal([program], script, folder, library=library) as terminal:
        result = terminal.wait_end(LONG_S)
    assert texts(result, "Program") == ["true true true", "25 0", "true", "1"]


@needs_compiler
def test_the_authors_own_warnings_stop_it_all_the_same(tmp_path: Path) -> None:
    program, library = written(tmp_path)
    program.write_text(PROGRAM.replace("trading.Buy(0.25)", "trading.Buy(0.25) + Lots()"))
    with program.open("a") as file:
        file.write("int Lots(void) { double lots = Point(); return(lots); }\n")
    with pytest.raises(BuildError, match=r"^Program.mq5\(14,\d+\): warning: possible loss of data"):
        EmulatedTerminal([program], Script.of(), tmp_path / "terminal", library=library)


def test_without_it_the_error_says_where_it_is(tmp_path: Path) -> None:
    program, _ = written(tmp_path)
    with pytest.raises(TranslationError, match="MQL5/Include: name that with --include"):
        translate(program, tmp_path / "Other")
