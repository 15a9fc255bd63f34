#include "Declarations.h"

#include "ConstantExpression.h"

#include <algorithm>
#include <bit>

namespace tile_emu::ptx {

namespace {

constexpr uint64_t kMaxAlign = 65536;
constexpr size_t kMaxDimensions = 8;
/// Bytes that a space may take: far above what hardware has, but small enough to be allocated.
constexpr uint64_t kMaxGlobal = uint64_t(1) << 28, kMaxOther = uint64_t(1) << 20;

uint64_t limitOf(Space space) { return space == Space::Global ? kMaxGlobal : kMaxOther; }

/// What stands before the names of a declaration.
struct Prefix {
  Type type = Type::None;
  unsigned vector = 1; ///< elements of .v2, .v4
  uint64_t align = 0;  ///< 0: natural
};

uint64_t parseAlignment(Cursor &cursor) {
  uint64_t align = uint64_t(parseInteger(cursor));
  if (!std::has_single_bit(align) || align > kMaxAlign) {
    cursor.fail("an alignment is a power of two up to " + std::to_string(kMaxAlign));
  }
  return align;
}

Type parseType(Cursor &cursor) {
  std::string_view name = cursor.peek().text;
  std::optional<Type> type = typeNamed(cursor.expectDot("a type"));
  if (!type || *type == Type::Pred) {
    cursor.fail("variables of type '." + std::string(name) + "' are not supported");
  }
  return *type;
}

/// `.align N`, `.attribute(...)`, `.v4` and the type.
Prefix parsePrefix(Cursor &cursor) {
  Prefix prefix;
  for (;;) {
    if (cursor.acceptDot("align")) {
      prefix.align = parseAlignment(cursor);
    } else if (cursor.acceptDot("attribute")) {
      if (!cursor.isMark("(")) {
        cursor.failExpected("'(' after .attribute");
      }
      cursor.skipNested("(", ")");
    } else if (cursor.acceptDot("v2")) {
      prefix.vector = 2;
    } else if (cursor.acceptDot("v4")) {
      prefix.vector = 4;
    } else {
      break;
    }
  }
  prefix.type = parseType(cursor);
  return prefix;
}

/// `[2][3]`; the first may be 0 for `[]`.
std::vector<uint64_t> parseDimensions(Cursor &cursor) {
  std::vector<uint64_t> dimensions;
  while (cursor.acceptMark("[")) {
    if (dimensions.size() == kMaxDimensions) {
      cursor.fail("an array has at most " + std::to_string(kMaxDimensions) + " dimensions");
    }
    bool isOpen = cursor.isMark("]");
    if (isOpen && !dimensions.empty()) {
      cursor.fail("only the first dimension can be left out");
    }
    int64_t size = isOpen ? 0 : parseInteger(cursor);
    if (!isOpen && (size <= 0 || uint64_t(size) > kMaxGlobal)) {
      cursor.fail("size of an array out of range");
    }
    dimensions.push_back(uint64_t(size));
    cursor.expectMark("]", "after the size of an array");
  }
  return dimensions;
}

/// Fills Variable::initial from nested braces.
class Initialiser {
public:
  /// `dimensions`: with the elements of a vector as the last one; the first may be 0 (open).
  Initialiser(Cursor &cursor, Type type, std::vector<uint64_t> dimensions)
      : cursor(cursor), type(type), dimensions(std::move(dimensions)) {}

  std::vector<uint8_t> run() {
    if (cursor.isMark("{")) {
      braces(0, 0);
    } else {
      if (!dimensions.empty()) {
        cursor.failExpected("'{' before the values of an array");
      }
      value(0);
    }
    return std::move(bytes);
  }
  /// Elements of the first dimension that have a value.
  uint64_t outer() const { return count; }

private:
  /// Values of the part from dimension `level` on that starts at element `start`.
  void braces(size_t level, uint64_t start) {
    if (level >= std::max<size_t>(dimensions.size(), 1)) {
      cursor.fail("more braces than dimensions");
    }
    cursor.take();
    uint64_t stride = 1;
    for (size_t i = level + 1; i < dimensions.size(); ++i) {
      stride *= dimensions[i];
    }
    uint64_t size = dimensions.empty() ? 1 : dimensions[level] * stride, next = 0;
    bool isOpen = level == 0 && !dimensions.empty() && dimensions[0] == 0;
    while (!cursor.acceptMark("}")) {
      if (!isOpen && next >= size) {
        cursor.fail("more values than elements");
      }
      if (cursor.isMark("{")) {
        next = (next + stride - 1) / stride * stride;
        braces(level + 1, start + next);
        next += stride;
      } else {
        value(start + next++);
      }
      if (!cursor.isMark("}")) {
        cursor.expectMark(",", "between values");
      }
    }
    if (level == 0) {
      count = (next + stride - 1) / stride;
    }
  }

  void value(uint64_t index) {
    if (cursor.is(Token::Kind::Name) && !startsConstant(cursor)) {
      cursor.fail("addresses as values of variables are not supported");
    }
    Constant constant = parseConstant(cursor);
    uint64_t size = bitsOf(type) / 8;
    if ((index + 1) * size > kMaxGlobal) {
      cursor.fail("too many values");
    }
    bytes.resize(std::max<size_t>(bytes.size(), (index + 1) * size));
    uint64_t bits = convert(constant);
    for (uint64_t i = 0; i < std::min<uint64_t>(size, 8); ++i) {
      bytes[index * size + i] = uint8_t(bits >> (8 * i));
    }
  }

  uint64_t convert(const Constant &constant) const {
    bool wantsFloat = type == Type::F32 || type == Type::F64;
    if (wantsFloat != constant.isFloat()) {
      cursor.fail(wantsFloat ? "an integer as value of a floating-point variable"
                             : "a floating-point value of a variable that is none");
    }
    if (!wantsFloat || type == constant.type) {
      return constant.bits;
    }
    if (type == Type::F32) {
      return std::bit_cast<uint32_t>(float(std::bit_cast<double>(constant.bits)));
    }
    return std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(constant.bits))));
  }

  Cursor &cursor;
  Type type;
  std::vector<uint64_t> dimensions;
  std::vector<uint8_t> bytes;
  uint64_t count = 0;
};

/// Bytes of a variable with these dimensions, one that is open counted as 1.
uint64_t checkedBytes(const Cursor &cursor, const Variable &variable,
                      const std::vector<uint64_t> &dimensions) {
  uint64_t bytes = bitsOf(variable.type) / 8;
  for (uint64_t dimension : dimensions) {
    bytes *= std::max<uint64_t>(dimension, 1);
    if (bytes > limitOf(variable.space)) {
      cursor.fail("variable '" + variable.name + "' is too large");
    }
  }
  return bytes;
}

/// The name, its dimensions and values.
Declared parseDeclarator(Cursor &cursor, Space space, bool isExtern, const Prefix &prefix) {
  Declared declared;
  declared.name = cursor.expectName("the name of a variable");
  std::vector<uint64_t> dimensions = parseDimensions(cursor);
  bool isOpen = !dimensions.empty() && dimensions[0] == 0;
  if (prefix.vector > 1) {
    dimensions.push_back(prefix.vector);
  }
  Variable &variable = declared.variable;
  variable.name = declared.name;
  variable.space = space;
  variable.type = prefix.type;
  variable.isExtern = isExtern;
  uint64_t elementBytes = bitsOf(prefix.type) / 8;
  variable.align = prefix.align ? prefix.align : elementBytes * prefix.vector;
  checkedBytes(cursor, variable, dimensions); // before strides are computed of them
  if (cursor.acceptMark("=")) {
    if (isExtern || (space != Space::Global && space != Space::Const)) {
      cursor.fail("this variable cannot have a value");
    }
    Initialiser initialiser(cursor, prefix.type, dimensions);
    variable.initial = initialiser.run();
    if (isOpen) {
      dimensions[0] = initialiser.outer();
    }
  } else if (isOpen && !isExtern && space != Space::Param) {
    cursor.fail("array '" + variable.name + "' has no size");
  }
  variable.bytes = isOpen && dimensions[0] == 0 ? 0 : checkedBytes(cursor, variable, dimensions);
  return declared;
}

} // namespace

std::optional<Space> spaceNamed(std::string_view directive) {
  static constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {"reg", Space::Reg},       {"param", Space::Param}, {"const", Space::Const},
      {"global", Space::Global}, {"local", Space::Local}, {"shared", Space::Shared}};
  for (auto [name, space] : kSpaces) {
    if (name == directive) {
      return space;
    }
  }
  return std::nullopt;
}

std::vector<Declared> parseVariables(Cursor &cursor, Space space, bool isExtern) {
  Prefix prefix = parsePrefix(cursor);
  std::vector<Declared> result;
  do {
    result.push_back(parseDeclarator(cursor, space, isExtern, prefix));
  } while (cursor.acceptMark(","));
  cursor.expectMark(";", "after a declaration");
  return result;
}

Declared parseParameter(Cursor &cursor) {
  Prefix prefix;
  if (cursor.acceptDot("align")) {
    prefix.align = parseAlignment(cursor);
  }
  prefix.type = parseType(cursor);
  // What the parameter points to is not needed: .ptr .global .align 16.
  if (cursor.acceptDot("ptr")) {
    if (cursor.is(Token::Kind::DotName) && !cursor.isDot("align") &&
        !spaceNamed(cursor.take().text)) {
      cursor.fail("unknown state space of a pointer");
    }
    if (cursor.acceptDot("align")) {
      parseAlignment(cursor);
    }
  }
  return parseDeclarator(cursor, Space::Param, false, prefix);
}

void place(const Cursor &cursor, Variable &variable, uint64_t &end) {
  if (variable.isExtern) {
    return;
  }
  variable.offset = (end + variable.align - 1) / variable.align * variable.align;
  end = variable.offset + variable.bytes;
  if (end > limitOf(variable.space)) {
    cursor.fail("variables of more than " + std::to_string(limitOf(variable.space)) +
                " bytes in one state space");
  }
}

} // namespace tile_emu::ptx
