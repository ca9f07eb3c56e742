// Everything a translated program sees.
#ifndef MT5BRIDGE_MQL5_HPP
#define MT5BRIDGE_MQL5_HPP

#include "language/language.hpp"
#include "terminal/api.hpp"
#include "broker/api.hpp"

#endif
