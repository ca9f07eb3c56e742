// Errors: the running program's _LastError, and what stops a program for good.
#ifndef MT5BRIDGE_LANGUAGE_ERRORS_HPP
#define MT5BRIDGE_LANGUAGE_ERRORS_HPP

#include <stdexcept>
#include <string>

#include "types.hpp"

namespace mql {

// The language's own run time errors, by their numbers in the documentation.
inline constexpr int ERR_SUCCESS = 0;
inline constexpr int ERR_INTERNAL_ERROR = 4001;
inline constexpr int ERR_WRONG_INTERNAL_PARAMETER = 4002;
inline constexpr int ERR_INVALID_PARAMETER = 4003;
inline constexpr int ERR_NOT_ENOUGH_MEMORY = 4004;
inline constexpr int ERR_INVALID_ARRAY = 4006;
inline constexpr int ERR_ARRAY_RESIZE_ERROR = 4007;
inline constexpr int ERR_FUNCTION_NOT_ALLOWED = 4014;
inline constexpr int ERR_TOO_MANY_FORMATTERS = 4103;
inline constexpr int ERR_GLOBALVARIABLE_NOT_FOUND = 4501;
inline constexpr int ERR_TOO_MANY_FILES = 5001;
inline constexpr int ERR_WRONG_FILENAME = 5002;
inline constexpr int ERR_TOO_LONG_FILENAME = 5003;
inline constexpr int ERR_CANNOT_OPEN_FILE = 5004;
inline constexpr int ERR_FILE_CACHEBUFFER_ERROR = 5005;
inline constexpr int ERR_CANNOT_DELETE_FILE = 5006;
inline constexpr int ERR_INVALID_FILEHANDLE = 5007;
inline constexpr int ERR_WRONG_FILEHANDLE = 5008;
inline constexpr int ERR_FILE_NOTTOWRITE = 5009;
inline constexpr int ERR_FILE_NOTTOREAD = 5010;
inline constexpr int ERR_FILE_NOTBIN = 5011;
inline constexpr int ERR_FILE_NOTTXT = 5012;
inline constexpr int ERR_FILE_READERROR = 5015;
inline constexpr int ERR_FILE_IS_DIRECTORY = 5018;
inline constexpr int ERR_FILE_NOT_EXIST = 5019;
inline constexpr int ERR_FILE_CANNOT_REWRITE = 5020;
inline constexpr int ERR_WRONG_DIRECTORYNAME = 5021;
inline constexpr int ERR_DIRECTORY_NOT_EXIST = 5022;
inline constexpr int ERR_FILE_ISNOT_DIRECTORY = 5023;
inline constexpr int ERR_CANNOT_CREATE_DIRECTORY = 5024;
inline constexpr int ERR_FILE_WRITEERROR = 5026;
inline constexpr int ERR_NO_STRING_DATE = 5030;
inline constexpr int ERR_WRONG_STRING_DATE = 5031;
inline constexpr int ERR_STRING_SMALL_LEN = 5035;
inline constexpr int ERR_STRING_OUT_OF_MEMORY = 5034;
inline constexpr int ERR_STRINGPOS_OUTOFRANGE = 5041;
inline constexpr int ERR_INCOMPATIBLE_ARRAYS = 5050;
inline constexpr int ERR_SMALL_ARRAY = 5052;
inline constexpr int ERR_NUMBER_ARRAYS_ONLY = 5054;
inline constexpr int ERR_USER_ERROR_FIRST = 65536;

// A program has done what the terminal stops programs for: its handler does not return.
struct ProgramStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Stops the running program; `file` and `line` are the place in the MQL5 source.
[[noreturn]] void stop_program(const std::string& reason, const char* file, int line);
[[noreturn]] void out_of_range(long index, long size, const char* file, int line);

// The running program's _LastError.
int& last_error();

// Sets the running program's _LastError; false, so that `return fail(4003);` is possible.
inline bool fail(int code) {
  last_error() = code;
  return false;
}

inline int GetLastError() { return last_error(); }
inline void ResetLastError() { last_error() = 0; }
inline void SetUserError(ushort code) { last_error() = ERR_USER_ERROR_FIRST + code; }

// The right operand of `/` and `%`: zero stops the program.
template <class T>
constexpr T divisor(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (value == T(0)) stop_program("zero divide", file, line);
  return value;
}

}  // namespace mql

#endif
