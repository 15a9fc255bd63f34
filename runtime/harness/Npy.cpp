#include "Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace tile_rt {

namespace {
struct Descr {
  const char *text; ///< numpy's, without the byte order
  DType dtype;
};
constexpr Descr kDescrs[] = {
    {"f8", DType::F64}, {"f4", DType::F32}, {"f2", DType::F16}, {"i8", DType::I64},
    {"i4", DType::I32}, {"i2", DType::I16}, {"i1", DType::I8},  {"u8", DType::U64},
    {"u4", DType::U32}, {"u2", DType::U16}, {"u1", DType::U8},  {"b1", DType::Bool},
};

/// The type that stands for `dtype` in a file.
DType storedAs(DType dtype) {
  switch (dtype) {
  case DType::BF16:
    return DType::U16;
  case DType::E4M3:
  case DType::E5M2:
  case DType::E8M0:
  case DType::E2M1:
  case DType::I4:
  case DType::U4:
    return DType::U8;
  default:
    return dtype;
  }
}

/// The text after `'key':` in the header, a Python dictionary.
std::string field(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) {
    throw NpyError("its header has no '" + key + "'");
  }
  size_t begin = header.find_first_not_of(' ', colon + 1);
  return begin == std::string::npos ? "" : header.substr(begin);
}

DType parseDescr(const std::string &text) {
  if (text.size() > 4 && (text[0] == '\'' || text[0] == '"')) {
    char order = text[1];
    std::string type = text.substr(2, 2);
    for (const Descr &descr : kDescrs) {
      bool oneByte = type[1] == '1';
      if (type == descr.text && text[4] == text[0] &&
          (order == '<' || order == '|' || (oneByte && order == '='))) {
        return descr.dtype;
      }
    }
  }
  throw NpyError("its type " + text.substr(0, text.find(',')) + " is not supported");
}

std::vector<int64_t> parseShape(const std::string &text) {
  if (text.empty() || text[0] != '(') {
    throw NpyError("its shape is malformed");
  }
  std::vector<int64_t> shape;
  for (size_t i = 1; i < text.size() && text[i] != ')';) {
    if (text[i] >= '0' && text[i] <= '9') {
      int64_t extent = 0;
      for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        if (extent > (int64_t{1} << 48)) {
          throw NpyError("its shape is too large");
        }
        extent = extent * 10 + (text[i] - '0');
      }
      shape.push_back(extent);
    } else if (text[i] == ',' || text[i] == ' ') {
      ++i;
    } else {
      throw NpyError("its shape is malformed");
    }
  }
  return shape;
}

/// Takes column-major data apart into row-major.
void toRowMajor(Array &array) {
  Array result(array.dtype, array.shape);
  size_t rank = array.shape.size();
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0, n = array.size(); i < n; ++i) {
    int64_t source = 0, stride = 1;
    for (size_t d = 0; d < rank; ++d) {
      source += index[d] * stride;
      stride *= array.shape[d];
    }
    result.setBits(i, array.bits(source));
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < array.shape[d]) {
        break;
      }
      index[d] = 0;
    }
  }
  array = std::move(result);
}

uint64_t headerBytes(const std::string &bytes, size_t &begin) {
  static const char magic[] = "\x93NUMPY";
  if (bytes.size() < 10 || std::memcmp(bytes.data(), magic, 6) != 0) {
    throw NpyError("it is not a .npy file");
  }
  unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version == 1) {
    uint16_t length;
    std::memcpy(&length, bytes.data() + 8, sizeof(length));
    begin = 10;
    return length;
  }
  if ((version != 2 && version != 3) || bytes.size() < 12) {
    throw NpyError("its format version is unknown");
  }
  uint32_t length;
  std::memcpy(&length, bytes.data() + 8, sizeof(length));
  begin = 12;
  return length;
}

Array parse(const std::string &bytes, std::optional<DType> wanted) {
  size_t begin = 0;
  uint64_t length = headerBytes(bytes, begin);
  if (length > bytes.size() - begin) {
    throw NpyError("it is cut short");
  }
  std::string header = bytes.substr(begin, length);
  DType stored = parseDescr(field(header, "descr"));
  std::vector<int64_t> shape = parseShape(field(header, "shape"));
  unsigned __int128 total = dtypeBits(stored) / 8;
  for (int64_t extent : shape) {
    total = total > bytes.size() * 16 ? total : total * static_cast<uint64_t>(extent);
  }
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (!empty && total != bytes.size() - begin - length) {
    throw NpyError("its size is not what its header says");
  }
  Array array(stored, empty ? std::vector<int64_t>{0} : shape);
  array.shape = shape;
  std::copy_n(reinterpret_cast<const std::byte *>(bytes.data()) + begin + length, array.data.size(),
              array.data.begin());
  if (field(header, "fortran_order").rfind("True", 0) == 0 && !empty) {
    toRowMajor(array);
  }
  if (wanted && *wanted != stored) {
    if (storedAs(*wanted) != stored) {
      throw NpyError(std::string("it holds ") + dtypeName(stored) + ", not " + dtypeName(*wanted) +
                     (storedAs(*wanted) == *wanted
                          ? ""
                          : std::string(" (stored as ") + dtypeName(storedAs(*wanted)) + ")"));
    }
    if (dtypeIsPacked(*wanted)) {
      if (array.shape.empty()) {
        throw NpyError("packed elements need a dimension");
      }
      array.shape.back() *= 2;
    }
    array.dtype = *wanted;
  }
  return array;
}
} // namespace

/// What the system says of a file that cannot be used.
static std::string problemOf(const char *what, const std::string &path, int error) {
  std::string text = std::string("cannot ") + what + " `" + path + "`";
  return error == 0 ? text : text + ": " + std::generic_category().message(error);
}

Array readNpy(const std::string &path, std::optional<DType> wanted) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw NpyError(problemOf("open", path, errno));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw NpyError(problemOf("open", path, EISDIR));
  }
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse(bytes, wanted);
  } catch (const NpyError &error) {
    throw NpyError("`" + path + "`: " + error.what());
  }
}

void checkNpyPath(const std::string &path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw NpyError(problemOf("write", path, EISDIR));
  }
  std::filesystem::path place = path;
  if (!std::filesystem::exists(place, ignored)) {
    place = place.has_parent_path() ? place.parent_path() : std::filesystem::path(".");
  }
  if (access(place.c_str(), W_OK) != 0) {
    throw NpyError(problemOf("write", path, errno));
  }
}

void writeNpy(const std::string &path, const Array &array) {
  DType stored = storedAs(array.dtype);
  std::string descr;
  for (const Descr &candidate : kDescrs) {
    if (candidate.dtype == stored) {
      descr = candidate.text;
    }
  }
  std::string header = std::string("{'descr': '") + (descr[1] == '1' ? '|' : '<') + descr +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    bool packed = dtypeIsPacked(array.dtype) && i + 1 == array.shape.size();
    header += std::to_string(packed ? (array.shape[i] + 1) / 2 : array.shape[i]) + ",";
  }
  header += "), }";
  // Magic, version, length, header and a line feed fill a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  uint16_t length = static_cast<uint16_t>(header.size());
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write("\x93NUMPY\x01\x00", 8);
  file.write(reinterpret_cast<const char *>(&length), sizeof(length));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char *>(array.data.data()),
             static_cast<std::streamsize>(array.data.size()));
  file.flush();
  if (!file) {
    throw NpyError(problemOf("write", path, errno));
  }
}

} // namespace tile_rt
