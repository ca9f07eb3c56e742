// MQL5's functions of charts and the objects on them: nothing is drawn, all is kept.
#pragma once

#include "enums.hpp"
#include "language/language.hpp"

namespace mql {

enum ENUM_OBJECT : int {
  OBJ_VLINE = 0, OBJ_HLINE = 1, OBJ_TREND = 2, OBJ_TRENDBYANGLE = 3, OBJ_CYCLES = 4,
  OBJ_CHANNEL = 5, OBJ_STDDEVCHANNEL = 6, OBJ_REGRESSION = 7, OBJ_PITCHFORK = 8,
  OBJ_GANNLINE = 9, OBJ_GANNFAN = 10, OBJ_GANNGRID = 11, OBJ_FIBO = 12, OBJ_FIBOTIMES = 13,
  OBJ_FIBOFAN = 14, OBJ_FIBOARC = 15, OBJ_FIBOCHANNEL = 16, OBJ_EXPANSION = 17,
  OBJ_RECTANGLE = 20, OBJ_TRIANGLE = 21, OBJ_ELLIPSE = 22, OBJ_ARROW_THUMB_UP = 23,
  OBJ_ARROW_THUMB_DOWN = 24, OBJ_ARROW_UP = 25, OBJ_ARROW_DOWN = 26, OBJ_ARROW_STOP = 27,
  OBJ_ARROW_CHECK = 28, OBJ_ARROW_LEFT_PRICE = 29, OBJ_ARROW_RIGHT_PRICE = 30,
  OBJ_ARROW_BUY = 31, OBJ_ARROW_SELL = 32, OBJ_ARROW = 100, OBJ_TEXT = 101, OBJ_LABEL = 102,
  OBJ_BUTTON = 103, OBJ_CHART = 104, OBJ_BITMAP = 105, OBJ_BITMAP_LABEL = 106, OBJ_EDIT = 107,
  OBJ_ARROWED_LINE = 108, OBJ_EVENT = 109, OBJ_RECTANGLE_LABEL = 110,
};

enum ENUM_OBJECT_PROPERTY_INTEGER : int {
  OBJPROP_COLOR = 0, OBJPROP_STYLE = 1, OBJPROP_WIDTH = 2, OBJPROP_BACK = 3,
  OBJPROP_SELECTED = 4, OBJPROP_TYPE = 7, OBJPROP_TIME = 8, OBJPROP_READONLY = 9,
  OBJPROP_HIDDEN = 10, OBJPROP_FILL = 11, OBJPROP_ZORDER = 12, OBJPROP_SELECTABLE = 13,
  OBJPROP_CREATETIME = 14, OBJPROP_TIMEFRAMES = 15, OBJPROP_LEVELS = 16,
  OBJPROP_LEVELCOLOR = 17, OBJPROP_LEVELSTYLE = 18, OBJPROP_LEVELWIDTH = 19,
  OBJPROP_FONTSIZE = 100, OBJPROP_RAY_LEFT = 101, OBJPROP_RAY_RIGHT = 102, OBJPROP_RAY = 103,
  OBJPROP_ELLIPSE = 104, OBJPROP_ARROWCODE = 105, OBJPROP_ANCHOR = 106,
  OBJPROP_XDISTANCE = 107, OBJPROP_YDISTANCE = 108, OBJPROP_DIRECTION = 109,
  OBJPROP_DEGREE = 110, OBJPROP_DRAWLINES = 111, OBJPROP_STATE = 112, OBJPROP_CHART_ID = 113,
  OBJPROP_XSIZE = 114, OBJPROP_YSIZE = 115, OBJPROP_XOFFSET = 116, OBJPROP_YOFFSET = 117,
  OBJPROP_PERIOD = 118, OBJPROP_DATE_SCALE = 119, OBJPROP_PRICE_SCALE = 120,
  OBJPROP_CHART_SCALE = 121, OBJPROP_BGCOLOR = 122, OBJPROP_CORNER = 123,
  OBJPROP_BORDER_TYPE = 124, OBJPROP_BORDER_COLOR = 125, OBJPROP_ALIGN = 126,
};

enum ENUM_OBJECT_PROPERTY_DOUBLE : int {
  OBJPROP_PRICE = 200, OBJPROP_LEVELVALUE = 201, OBJPROP_SCALE = 202, OBJPROP_ANGLE = 203,
  OBJPROP_DEVIATION = 204,
};

enum ENUM_OBJECT_PROPERTY_STRING : int {
  OBJPROP_NAME = 300, OBJPROP_TEXT = 301, OBJPROP_TOOLTIP = 302, OBJPROP_LEVELTEXT = 303,
  OBJPROP_FONT = 304, OBJPROP_BMPFILE = 305, OBJPROP_SYMBOL = 306,
};

enum ENUM_BASE_CORNER : int {
  CORNER_LEFT_UPPER = 0, CORNER_LEFT_LOWER = 1, CORNER_RIGHT_LOWER = 2, CORNER_RIGHT_UPPER = 3,
};
enum ENUM_ANCHOR_POINT : int {
  ANCHOR_LEFT_UPPER = 0, ANCHOR_LEFT = 1, ANCHOR_LEFT_LOWER = 2, ANCHOR_LOWER = 3,
  ANCHOR_RIGHT_LOWER = 4, ANCHOR_RIGHT = 5, ANCHOR_RIGHT_UPPER = 6, ANCHOR_UPPER = 7,
  ANCHOR_CENTER = 8,
};
enum ENUM_ARROW_ANCHOR : int { ANCHOR_TOP = 0, ANCHOR_BOTTOM = 1 };
enum ENUM_BORDER_TYPE : int { BORDER_FLAT = 0, BORDER_RAISED = 1, BORDER_SUNKEN = 2 };
enum ENUM_ALIGN_MODE : int { ALIGN_LEFT = 1, ALIGN_CENTER = 2, ALIGN_RIGHT = 0 };
enum ENUM_LINE_STYLE : int {
  STYLE_SOLID = 0, STYLE_DASH = 1, STYLE_DOT = 2, STYLE_DASHDOT = 3, STYLE_DASHDOTDOT = 4,
};
MQL_ENUM_NAMES(ENUM_BASE_CORNER,
  MQL_ENUM_VALUE(CORNER_LEFT_UPPER) MQL_ENUM_VALUE(CORNER_LEFT_LOWER)
  MQL_ENUM_VALUE(CORNER_RIGHT_LOWER) MQL_ENUM_VALUE(CORNER_RIGHT_UPPER))
MQL_ENUM_NAMES(ENUM_LINE_STYLE,
  MQL_ENUM_VALUE(STYLE_SOLID) MQL_ENUM_VALUE(STYLE_DASH) MQL_ENUM_VALUE(STYLE_DOT)
  MQL_ENUM_VALUE(STYLE_DASHDOT) MQL_ENUM_VALUE(STYLE_DASHDOTDOT))
enum : int { OBJ_NO_PERIODS = 0, OBJ_ALL_PERIODS = 0x1FFFFF };

enum ENUM_CHART_PROPERTY_INTEGER : int {
  CHART_SHOW = 0, CHART_IS_OBJECT = 1, CHART_BRING_TO_TOP = 2, CHART_CONTEXT_MENU = 3,
  CHART_CROSSHAIR_TOOL = 4, CHART_MOUSE_SCROLL = 5, CHART_EVENT_MOUSE_WHEEL = 6,
  CHART_EVENT_MOUSE_MOVE = 7, CHART_EVENT_OBJECT_CREATE = 8, CHART_EVENT_OBJECT_DELETE = 9,
  CHART_MODE = 10, CHART_FOREGROUND = 11, CHART_SHIFT = 12, CHART_AUTOSCROLL = 13,
  CHART_KEYBOARD_CONTROL = 14, CHART_QUICK_NAVIGATION = 15, CHART_SCALE = 16,
  CHART_SHOW_TICKER = 17, CHART_SHOW_OHLC = 18, CHART_SHOW_BID_LINE = 19,
  CHART_SHOW_ASK_LINE = 20, CHART_SHOW_LAST_LINE = 21, CHART_SHOW_PERIOD_SEP = 22,
  CHART_SHOW_GRID = 23, CHART_SHOW_VOLUMES = 24, CHART_SHOW_OBJECT_DESCR = 25,
  CHART_SHOW_TRADE_LEVELS = 26, CHART_DRAG_TRADE_LEVELS = 27, CHART_SHOW_DATE_SCALE = 28,
  CHART_SHOW_PRICE_SCALE = 29, CHART_SHOW_ONE_CLICK = 30, CHART_COLOR_BACKGROUND = 31,
  CHART_COLOR_FOREGROUND = 32, CHART_COLOR_GRID = 33, CHART_COLOR_VOLUME = 34,
  CHART_COLOR_CHART_UP = 35, CHART_COLOR_CHART_DOWN = 36, CHART_COLOR_CHART_LINE = 37,
  CHART_COLOR_CANDLE_BULL = 38, CHART_COLOR_CANDLE_BEAR = 39, CHART_COLOR_BID = 40,
  CHART_COLOR_ASK = 41, CHART_COLOR_LAST = 42, CHART_COLOR_STOP_LEVEL = 43,
  CHART_SHOW_TRADE_HISTORY = 44,
};
enum ENUM_CHART_PROPERTY_DOUBLE : int { CHART_SHIFT_SIZE = 100, CHART_FIXED_MAX = 101, CHART_FIXED_MIN = 102 };
enum ENUM_CHART_PROPERTY_STRING : int { CHART_COMMENT = 200 };
enum ENUM_CHART_MODE : int { CHART_BARS = 0, CHART_CANDLES = 1, CHART_LINE = 2 };

// --- objects
bool ObjectCreate(long chart, const string& name, ENUM_OBJECT type, int window, datetime time,
                  double price, datetime time2 = 0, double price2 = 0, datetime time3 = 0,
                  double price3 = 0);
string ObjectName(long chart, int position, int window = -1, int type = -1);
bool ObjectDelete(long chart, const string& name);
int ObjectsDeleteAll(long chart, int window = -1, int type = -1);
int ObjectsDeleteAll(long chart, const string& prefix, int window = -1, int type = -1);
int ObjectFind(long chart, const string& name);
bool ObjectMove(long chart, const string& name, int point, datetime time, double price);
int ObjectsTotal(long chart, int window = -1, int type = -1);
bool ObjectSetInteger(long chart, const string& name, ENUM_OBJECT_PROPERTY_INTEGER property,
                      long value);
bool ObjectSetInteger(long chart, const string& name, ENUM_OBJECT_PROPERTY_INTEGER property,
                      int modifier, long value);
bool ObjectSetDouble(long chart, const string& name, ENUM_OBJECT_PROPERTY_DOUBLE property,
                     double value);
bool ObjectSetDouble(long chart, const string& name, ENUM_OBJECT_PROPERTY_DOUBLE property,
                     int modifier, double value);
bool ObjectSetString(long chart, const string& name, ENUM_OBJECT_PROPERTY_STRING property,
                     const string& value);
bool ObjectSetString(long chart, const string& name, ENUM_OBJECT_PROPERTY_STRING property,
                     int modifier, const string& value);
long ObjectGetInteger(long chart, const string& name, ENUM_OBJECT_PROPERTY_INTEGER property,
                      int modifier = 0);
double ObjectGetDouble(long chart, const string& name, ENUM_OBJECT_PROPERTY_DOUBLE property,
                       int modifier = 0);
string ObjectGetString(long chart, const string& name, ENUM_OBJECT_PROPERTY_STRING property,
                       int modifier = 0);

// --- charts
void ChartRedraw(long chart = 0);
ENUM_TIMEFRAMES ChartPeriod(long chart = 0);
bool ChartSetInteger(long chart, ENUM_CHART_PROPERTY_INTEGER property, long value);
bool ChartSetInteger(long chart, ENUM_CHART_PROPERTY_INTEGER property, uint window, long value);
bool ChartSetDouble(long chart, ENUM_CHART_PROPERTY_DOUBLE property, double value);
bool ChartSetString(long chart, ENUM_CHART_PROPERTY_STRING property, const string& value);
long ChartGetInteger(long chart, ENUM_CHART_PROPERTY_INTEGER property, int window = 0);
double ChartGetDouble(long chart, ENUM_CHART_PROPERTY_DOUBLE property, int window = 0);
string ChartGetString(long chart, ENUM_CHART_PROPERTY_STRING property);

// --- what reaches outside: told in the journal, and sent nowhere
bool SendNotification(const string& text);
bool SendMail(const string& subject, const string& text);
bool PlaySound(const string& file);

}  // namespace mql
