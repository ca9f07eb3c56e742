"""The golden frames as an MQL5 include file, which the self-test script carries into a terminal.

`python -m tests.mql5.golden` rewrites it from tests/wire/golden.
"""

from __future__ import annotations

from mt5bridge.terminal.sources import sources_folder
from tests.wire import golden

PATH = sources_folder() / "Include" / "Mt5Bridge" / "Wire" / "Golden.mqh"
_HEX_DIGITS_A_LINE = 72
_FRAMES_A_METHOD = 12

_BEGIN = """\
//| The golden frames of tests/wire/golden; written by python -m tests.mql5.golden.
#ifndef MT5BRIDGE_WIRE_GOLDEN_MQH
#define MT5BRIDGE_WIRE_GOLDEN_MQH

// The bytes of pairs of hexadecimal digits, in small letters; returns how many.
int HexBytes(const string hex, uchar &bytes[])
  {
   const int size = StringLen(hex) / 2;
   ArrayResize(bytes, size);
   for(int i = 0; i < size; i++)
     {
      int value = 0;
      for(int k = 0; k < 2; k++)
        {
         const int digit = (int)StringGetCharacter(hex, 2 * i + k);
         value = 16 * value + (digit <= '9' ? digit - '0' : digit - 'a' + 10);
        }
      bytes[i] = (uchar)value;
     }
   return(size);
  }

// Name, what a decoder must find ("frame" or the reason of its refusal), and bytes.
class GoldenFrames
  {
private:
   string            m_names[];
   string            m_expected[];
   string            m_hex[];
   int               m_count;

   void              Add(const string name, const string expected, const string hex)
     {
      ArrayResize(m_names, m_count + 1);
      ArrayResize(m_expected, m_count + 1);
      ArrayResize(m_hex, m_count + 1);
      m_names[m_count] = name;
      m_expected[m_count] = expected;
      m_hex[m_count] = hex;
      m_count++;
     }

"""

_END = """\
public:
                     GoldenFrames(void)
     {
      m_count = 0;
{calls}     }

   int               Count(void) const { return(m_count); }
   string            Name(const int index) const { return(m_names[index]); }
   string            Expected(const int index) const { return(m_expected[index]); }
   string            Hex(const int index) const { return(m_hex[index]); }
  };

#endif
"""


def include_file() -> str:
    """The include file's text."""
    found = {path.stem: golden.read(path) for path in sorted(golden.FOLDER.glob("*.hex"))}
    items = [_call(stem, item) for stem, item in found.items()]
    parts = [items[at : at + _FRAMES_A_METHOD] for at in range(0, len(items), _FRAMES_A_METHOD)]
    methods = "".join(_method(number, part) for number, part in enumerate(parts, 1))
    calls = "".join(f"      AddPart{number}();\n" for number in range(1, len(parts) + 1))
    return _BEGIN + methods + _END.replace("{calls}", calls)


def _method(number: int, calls: list[str]) -> str:
    body = "".join(calls)
    return f"   void              AddPart{number}(void)\n     {{\n{body}     }}\n\n"


def _call(stem: str, item: golden.Golden) -> str:
    digits = item.data.hex()
    cuts = range(0, len(digits), _HEX_DIGITS_A_LINE)
    lines = [f'"{digits[at : at + _HEX_DIGITS_A_LINE]}"' for at in cuts]
    text = "\n          + ".join(lines)
    return f'      Add("{stem}", "{item.expect}",\n          {text});\n'


if __name__ == "__main__":
    PATH.write_text(include_file(), encoding="utf-8")
