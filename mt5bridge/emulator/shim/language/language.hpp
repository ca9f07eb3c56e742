// All of the language's side: types, strings, arrays, texts, files, maths, times.
#ifndef MT5BRIDGE_LANGUAGE_LANGUAGE_HPP
#define MT5BRIDGE_LANGUAGE_LANGUAGE_HPP

#include "array.hpp"
#include "arrays.hpp"
#include "calendar.hpp"
#include "colors.hpp"
#include "crypt.hpp"
#include "errors.hpp"
#include "files.hpp"
#include "function.hpp"
#include "globals.hpp"
#include "maths.hpp"
#include "pointer.hpp"
#include "print.hpp"
#include "program.hpp"
#include "string.hpp"
#include "strings.hpp"
#include "types.hpp"

#endif
