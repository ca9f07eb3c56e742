// MQL5's global variables of the terminal: numbers by name, kept between its runs.
#ifndef MT5BRIDGE_LANGUAGE_GLOBALS_HPP
#define MT5BRIDGE_LANGUAGE_GLOBALS_HPP

#include "string.hpp"

namespace mql {

bool GlobalVariableCheck(const string& name);
double GlobalVariableGet(const string& name);
bool GlobalVariableGet(const string& name, double& value);
datetime GlobalVariableSet(const string& name, double value);
bool GlobalVariableSetOnCondition(const string& name, double value, double expected);
bool GlobalVariableTemp(const string& name);
bool GlobalVariableDel(const string& name);
int GlobalVariablesTotal();
string GlobalVariableName(int index);
datetime GlobalVariableTime(const string& name);
int GlobalVariablesDeleteAll(const string& prefix = null, datetime limit = 0);
void GlobalVariablesFlush();

}  // namespace mql

#endif
