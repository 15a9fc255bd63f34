// How a PTX program is launched, as its description says: test/ptx/README.md.
#pragma once

#include "runtime/emulator/Emulator.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tile_ptx {

using Bytes = std::vector<uint8_t>;

struct Buffer {
  std::string name;
  Bytes contents;       ///< before the launch
  bool defined = false; ///< whether the program may read it before it writes there
  bool isResult = false;
};

/// The tensor map of a buffer; `recipe.base` is the offset within the buffer.
struct MapParameter {
  std::string buffer;
  tile_emu::TensorMapRecipe recipe;
};

/// A buffer's address, a tensor map, or the bytes of a number.
using Parameter = std::variant<std::string, MapParameter, Bytes>;

struct Launch {
  std::string entry;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  uint64_t sharedBytes = 0;
  bool overlaps = false; ///< may begin before the launch before it has ended
  std::vector<Parameter> params;
};

struct Description {
  bool lenient = false; ///< as `ptx-run --lenient`
  std::string what, compare;
  std::string error; ///< how each launch, for itself, ends on a GPU; empty: it computes the answer
  std::vector<Buffer> buffers; ///< by name
  std::vector<Launch> launches;
};

/// Reads JSON. Throws std::runtime_error that says what is wrong.
Description parseDescription(const std::string &json);

/// The JSON in the lines of a PTX text that begin with `//!`; empty if there are none.
std::string descriptionIn(const std::string &ptx);

/// Whole file. Throws std::runtime_error.
std::string readFile(const std::string &path);

/// The description of a PTX file: NAME.json beside it, else the one in its text.
Description describe(const std::string &path, const std::string &ptx);

} // namespace tile_ptx
