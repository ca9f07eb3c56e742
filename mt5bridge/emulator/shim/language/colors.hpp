// The web colours of MQL5 by name, as 0xRRGGBB, in the order of the reference's table.
#ifndef MT5BRIDGE_LANGUAGE_COLORS_HPP
#define MT5BRIDGE_LANGUAGE_COLORS_HPP

#include <string_view>

#include "types.hpp"

#define MQL_WEB_COLORS(X) \
  X(Black, 0x000000) X(DarkGreen, 0x006400) X(DarkSlateGray, 0x2F4F4F) X(Olive, 0x808000) \
  X(Green, 0x008000) X(Teal, 0x008080) X(Navy, 0x000080) X(Purple, 0x800080) X(Maroon, 0x800000) \
  X(Indigo, 0x4B0082) X(MidnightBlue, 0x191970) X(DarkBlue, 0x00008B) X(DarkOliveGreen, 0x556B2F) \
  X(SaddleBrown, 0x8B4513) X(ForestGreen, 0x228B22) X(OliveDrab, 0x6B8E23) X(SeaGreen, 0x2E8B57) \
  X(DarkGoldenrod, 0xB8860B) X(DarkSlateBlue, 0x483D8B) X(Sienna, 0xA0522D) X(MediumBlue, 0x0000CD) \
  X(Brown, 0xA52A2A) X(DarkTurquoise, 0x00CED1) X(DimGray, 0x696969) X(LightSeaGreen, 0x20B2AA) \
  X(DarkViolet, 0x9400D3) X(FireBrick, 0xB22222) X(MediumVioletRed, 0xC71585) \
  X(MediumSeaGreen, 0x3CB371) X(Chocolate, 0xD2691E) X(Crimson, 0xDC143C) X(SteelBlue, 0x4682B4) \
  X(Goldenrod, 0xDAA520) X(MediumSpringGreen, 0x00FA9A) X(LawnGreen, 0x7CFC00) \
  X(CadetBlue, 0x5F9EA0) X(DarkOrchid, 0x9932CC) X(YellowGreen, 0x9ACD32) X(LimeGreen, 0x32CD32) \
  X(OrangeRed, 0xFF4500) X(DarkOrange, 0xFF8C00) X(Orange, 0xFFA500) X(Gold, 0xFFD700) \
  X(Yellow, 0xFFFF00) X(Chartreuse, 0x7FFF00) X(Lime, 0x00FF00) X(SpringGreen, 0x00FF7F) \
  X(Aqua, 0x00FFFF) X(DeepSkyBlue, 0x00BFFF) X(Blue, 0x0000FF) X(Magenta, 0xFF00FF) X(Red, 0xFF0000) \
  X(Gray, 0x808080) X(SlateGray, 0x708090) X(Peru, 0xCD853F) X(BlueViolet, 0x8A2BE2) \
  X(LightSlateGray, 0x778899) X(DeepPink, 0xFF1493) X(MediumTurquoise, 0x48D1CC) \
  X(DodgerBlue, 0x1E90FF) X(Turquoise, 0x40E0D0) X(RoyalBlue, 0x4169E1) X(SlateBlue, 0x6A5ACD) \
  X(DarkKhaki, 0xBDB76B) X(IndianRed, 0xCD5C5C) X(MediumOrchid, 0xBA55D3) X(GreenYellow, 0xADFF2F) \
  X(MediumAquamarine, 0x66CDAA) X(DarkSeaGreen, 0x8FBC8F) X(Tomato, 0xFF6347) X(RosyBrown, 0xBC8F8F) \
  X(Orchid, 0xDA70D6) X(MediumPurple, 0x9370DB) X(PaleVioletRed, 0xDB7093) X(Coral, 0xFF7F50) \
  X(CornflowerBlue, 0x6495ED) X(DarkGray, 0xA9A9A9) X(SandyBrown, 0xF4A460) \
  X(MediumSlateBlue, 0x7B68EE) X(Tan, 0xD2B48C) X(DarkSalmon, 0xE9967A) X(BurlyWood, 0xDEB887) \
  X(HotPink, 0xFF69B4) X(Salmon, 0xFA8072) X(Violet, 0xEE82EE) X(LightCoral, 0xF08080) \
  X(SkyBlue, 0x87CEEB) X(LightSalmon, 0xFFA07A) X(Plum, 0xDDA0DD) X(Khaki, 0xF0E68C) \
  X(LightGreen, 0x90EE90) X(Aquamarine, 0x7FFFD4) X(Silver, 0xC0C0C0) X(LightSkyBlue, 0x87CEFA) \
  X(LightSteelBlue, 0xB0C4DE) X(LightBlue, 0xADD8E6) X(PaleGreen, 0x98FB98) X(Thistle, 0xD8BFD8) \
  X(PowderBlue, 0xB0E0E6) X(PaleGoldenrod, 0xEEE8AA) X(PaleTurquoise, 0xAFEEEE) \
  X(LightGray, 0xD3D3D3) X(Wheat, 0xF5DEB3) X(NavajoWhite, 0xFFDEAD) X(Moccasin, 0xFFE4B5) \
  X(LightPink, 0xFFB6C1) X(Gainsboro, 0xDCDCDC) X(PeachPuff, 0xFFDAB9) X(Pink, 0xFFC0CB) \
  X(Bisque, 0xFFE4C4) X(LightGoldenrod, 0xFAFAD2) X(BlanchedAlmond, 0xFFEBCD) \
  X(LemonChiffon, 0xFFFACD) X(Beige, 0xF5F5DC) X(AntiqueWhite, 0xFAEBD7) X(PapayaWhip, 0xFFEFD5) \
  X(Cornsilk, 0xFFF8DC) X(LightYellow, 0xFFFFE0) X(LightCyan, 0xE0FFFF) X(Linen, 0xFAF0E6) \
  X(Lavender, 0xE6E6FA) X(MistyRose, 0xFFE4E1) X(OldLace, 0xFDF5E6) X(WhiteSmoke, 0xF5F5F5) \
  X(Seashell, 0xFFF5EE) X(Ivory, 0xFFFFF0) X(Honeydew, 0xF0FFF0) X(AliceBlue, 0xF0F8FF) \
  X(LavenderBlush, 0xFFF0F5) X(MintCream, 0xF5FFFA) X(Snow, 0xFFFAFA) X(White, 0xFFFFFF)

namespace mql {

constexpr int color_of_rgb(int rgb) { return (rgb & 255) << 16 | (rgb & 0xFF00) | rgb >> 16; }

#define MQL_COLOR_CONSTANT(name, rgb) inline constexpr color clr##name = color_of_rgb(rgb);
MQL_WEB_COLORS(MQL_COLOR_CONSTANT)
#undef MQL_COLOR_CONSTANT
inline constexpr color clrFuchsia = clrMagenta;  // not in the table, but traders' programs have it

// "clrRed", the first of the table if two have the value; empty: none has.
std::string_view color_name(color value);
// Whether it is the name of a colour, clrNONE too.
bool color_by_name(std::string_view name, color& value);

}  // namespace mql

#endif
