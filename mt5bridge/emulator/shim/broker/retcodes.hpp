// The words a terminal has for the trade server's return codes.
#pragma once

#include "records.hpp"

namespace mql::broker {

std::string text_of_retcode(u32 retcode);

}  // namespace mql::broker
