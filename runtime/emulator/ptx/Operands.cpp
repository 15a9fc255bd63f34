#include "Body.h"
#include "ConstantExpression.h"

#include <algorithm>
#include <iterator>

namespace tile_emu::ptx {

namespace {

constexpr unsigned kMaxVectorDepth = 4;

// PTX ISA, "Special Registers". The first are vectors and are named with a component.
constexpr std::string_view kVectorSpecials[] = {"%tid",        "%ntid",          "%ctaid",
                                                "%nctaid",     "%clusterid",     "%cluster_ctaid",
                                                "%nclusterid", "%cluster_nctaid"};
constexpr std::string_view kScalarSpecials[] = {
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// %pm0 to %pm7, their _64, and %envreg0 to %envreg31.
bool isNumberedSpecial(std::string_view name) {
  auto isNumberUpTo = [](std::string_view digits, unsigned last) {
    return !digits.empty() && digits.size() <= 2 &&
           digits.find_first_not_of("0123456789") == std::string_view::npos &&
           unsigned(std::stoi(std::string(digits))) <= last;
  };
  if (name.substr(0, 7) == "%envreg") {
    return isNumberUpTo(name.substr(7), 31);
  }
  if (name.substr(0, 3) != "%pm") {
    return false;
  }
  bool isWide = name.size() > 6 && name.substr(name.size() - 3) == "_64";
  return isNumberUpTo(name.substr(3, name.size() - 3 - (isWide ? 3 : 0)), 7);
}

} // namespace

void BodyParser::operands(Instruction &instruction) {
  const std::string &mnemonic = instruction.opcode.front();
  bool isCall = mnemonic == "call";
  uint32_t index = uint32_t(function.instructions.size());
  while (!cursor.acceptMark(";")) {
    if (!instruction.operands.empty()) {
      cursor.expectMark(",", "or ';' after an operand");
    }
    uint32_t line = cursor.line(), slot = uint32_t(instruction.operands.size());
    bool isPlainName = cursor.is(Token::Kind::Name) &&
                       (cursor.isMark(",", 1) || cursor.isMark(";", 1)) &&
                       cursor.peek().text != "_";
    if (isCall && cursor.isMark("(")) {
      instruction.operands.push_back(vector("(", ")", 1));
    } else if (isPlainName && (mnemonic == "bra" || (mnemonic == "brx" && slot == 1))) {
      std::string_view name = cursor.take().text;
      auto kind =
          mnemonic == "bra" ? Scopes::Reference::Kind::Operand : Scopes::Reference::Kind::List;
      scopes.refer({kind, name, line, index, slot});
      Operand operand;
      operand.kind = Operand::Kind::Label;
      operand.name = name;
      instruction.operands.push_back(std::move(operand));
    } else if (isPlainName && isCall && !scopes.find(cursor.peek().text)) {
      Operand operand; // a function, or the prototype of one
      operand.kind = Operand::Kind::Variable;
      operand.name = cursor.take().text;
      instruction.operands.push_back(std::move(operand));
    } else {
      instruction.operands.push_back(operand(0));
    }
  }
}

Operand BodyParser::operand(unsigned depth) {
  if (depth > kMaxVectorDepth) {
    cursor.fail("operand nested too deeply");
  }
  if (cursor.isMark("[")) {
    return address(depth);
  }
  if (cursor.isMark("{")) {
    return vector("{", "}", depth);
  }
  if (cursor.isMark("!") && cursor.peek(1).kind == Token::Kind::Name) {
    cursor.take();
    Operand operand = named(depth);
    if (operand.kind != Operand::Kind::Register) {
      cursor.fail("'!' stands before predicates only");
    }
    operand.negated = true;
    return operand;
  }
  if (startsConstant(cursor)) {
    return constant();
  }
  if (cursor.is(Token::Kind::Name)) {
    return named(depth);
  }
  cursor.failExpected("an operand");
}

Operand BodyParser::constant() {
  Constant value = parseConstant(cursor);
  Operand operand;
  operand.kind = value.isFloat() ? Operand::Kind::Float : Operand::Kind::Integer;
  operand.type = value.type;
  operand.bits = value.bits;
  return operand;
}

Operand BodyParser::vector(std::string_view open, std::string_view close, unsigned depth) {
  Operand result;
  result.kind = Operand::Kind::Vector;
  cursor.expectMark(open, "before a vector");
  while (!cursor.acceptMark(close)) {
    if (!result.elements.empty()) {
      cursor.expectMark(",", "between the elements of a vector");
    }
    result.elements.push_back(operand(depth + 1));
  }
  return result;
}

Operand BodyParser::address(unsigned depth) {
  Operand result;
  result.kind = Operand::Kind::Address;
  cursor.take();
  if (startsConstant(cursor)) {
    result.elements.push_back(constant());
    if (result.elements[0].kind == Operand::Kind::Float) {
      cursor.fail("a floating-point number is no address");
    }
  } else {
    Operand base = named(depth + 1);
    if (base.kind == Operand::Kind::Register) {
      result.offset = parseOffset(cursor);
    } else if (base.kind == Operand::Kind::Variable) {
      std::swap(result.offset, base.offset);
    } else {
      cursor.fail("an address starts with a register, a variable or a number");
    }
    result.elements.push_back(std::move(base));
  }
  while (cursor.acceptMark(",")) {
    result.elements.push_back(operand(depth + 1));
  }
  cursor.expectMark("]", "after an address");
  return result;
}

Operand BodyParser::special(std::string_view name) {
  Operand operand;
  operand.kind = Operand::Kind::Special;
  operand.name = name;
  if (contains(kVectorSpecials, name)) {
    std::string_view component = cursor.expectDot("the component of a special register");
    if (component != "x" && component != "y" && component != "z") {
      cursor.fail("special register '" + operand.name + "' has components x, y and z");
    }
    operand.name += "." + std::string(component);
  } else if (!contains(kScalarSpecials, name) && !isNumberedSpecial(name)) {
    cursor.fail("'" + operand.name + "' is neither declared nor a special register");
  }
  return operand;
}

Operand BodyParser::named(unsigned depth) {
  Operand operand;
  std::string_view name = cursor.expectName("a register, a variable or a number");
  if (name == "_") {
    operand.kind = Operand::Kind::Sink;
  } else if (const Scopes::Meaning *meaning = scopes.find(name)) {
    operand.kind = meaning->isRegister ? Operand::Kind::Register : Operand::Kind::Variable;
    if (meaning->isRegister) {
      operand.index = meaning->index;
      operand.type = function.registers[meaning->index].type;
      operand.name = function.registers[meaning->index].name;
    } else {
      operand.name = meaning->variable;
    }
  } else if (state.variables.count(name) || state.functions.count(name)) {
    operand.kind = Operand::Kind::Variable;
    operand.name = name;
  } else if (name.front() == '%') {
    return special(name);
  } else {
    cursor.fail("'" + std::string(name) + "' is not declared");
  }
  if (operand.kind == Operand::Kind::Variable) {
    operand.offset = parseOffset(cursor);
  } else if (depth <= kMaxVectorDepth && cursor.acceptMark("|")) {
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.elements.push_back(std::move(operand));
    pair.elements.push_back(named(kMaxVectorDepth + 1)); // no third one
    for (const Operand &element : pair.elements) {
      if (element.kind != Operand::Kind::Register && element.kind != Operand::Kind::Sink) {
        cursor.fail("a pair consists of registers");
      }
    }
    return pair;
  }
  return operand;
}

} // namespace tile_emu::ptx
