// Charts and the objects on them: nothing is drawn, all is kept.
#property version "1.00"

input color                Line = clrFuchsia;
input ENUM_LINE_STYLE      Style = STYLE_DOT;
input ENUM_MA_METHOD       Method = MODE_EMA;
input ENUM_APPLIED_PRICE   Price = PRICE_TYPICAL;

void OnStart()
  {
   Print(ObjectFind(0, "label"));
   Print(GetLastError());
   Print(ObjectCreate(0, "label", OBJ_LABEL, 0, 0, 0));
   Print(ObjectFind(0, "label"));
   ObjectSetInteger(0, "label", OBJPROP_COLOR, Line);
   ObjectSetInteger(0, "label", OBJPROP_CORNER, CORNER_RIGHT_UPPER);
   ObjectSetString(0, "label", OBJPROP_TEXT, "bid");
   Print(ColorToString((color)ObjectGetInteger(0, "label", OBJPROP_COLOR), true), " ", ObjectGetString(0, "label", OBJPROP_TEXT), " ", EnumToString((ENUM_BASE_CORNER)ObjectGetInteger(0, "label", OBJPROP_CORNER)));
   ObjectCreate(0, "trend", OBJ_TREND, 0, D'2026.01.02', 1.5, D'2026.01.03', 1.6);
   ObjectMove(0, "trend", 1, D'2026.01.04', 1.7);
   ObjectSetInteger(0, "trend", OBJPROP_STYLE, Style);
   Print((datetime)ObjectGetInteger(0, "trend", OBJPROP_TIME, 1), " ", ObjectGetDouble(0, "trend", OBJPROP_PRICE, 0), " ", ObjectGetDouble(0, "trend", OBJPROP_PRICE, 1));
   Print(ObjectsTotal(0), " ", ObjectsTotal(0, -1, OBJ_TREND), " ", ObjectName(0, 0), " ", ObjectName(0, 1));
   Print(ObjectDelete(0, "nosuch"), " ", ObjectDelete(0, "label"));
   Print(ObjectsDeleteAll(0, "la"));
   Print(ObjectsDeleteAll(0, -1, OBJ_TREND));
   Print(ObjectsTotal(0));
   ResetLastError();
   Print(ObjectCreate(77, "label", OBJ_LABEL, 0, 0, 0));
   Print(GetLastError());
   ChartSetInteger(0, CHART_SHOW_GRID, false);
   ChartSetInteger(0, CHART_EVENT_MOUSE_MOVE, true);
   ChartRedraw();
   Comment("a comment");
   Print(ChartGetInteger(0, CHART_SHOW_GRID), " ", ChartGetInteger(0, CHART_EVENT_MOUSE_MOVE), " ", EnumToString(ChartPeriod()), " ", ChartGetString(0, CHART_COMMENT));
   Print(EnumToString(Method), " ", EnumToString(Price), " ", EnumToString(Style));
   datetime from, to;
   const bool open = SymbolInfoSessionTrade(_Symbol, MONDAY, 0, from, to);
   Print(open, " ", (long)from, " ", (long)to, " ", SymbolInfoSessionTrade(_Symbol, MONDAY, 1, from, to));
   Print(SendNotification("hello"));
   Print(SendMail("subject", "text"));
   Print(PlaySound("alert.wav"));
  }
