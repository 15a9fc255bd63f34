// Numbers as options and file formats take them.
#pragma once

#include <string>

namespace tilec {

/// The shortest of three texts that reads back as the same number; "nan" for what is none.
std::string numberText(double value);

} // namespace tilec
