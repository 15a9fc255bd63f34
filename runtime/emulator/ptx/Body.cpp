#include "Body.h"

#include "ConstantExpression.h"
#include "Declarations.h"

namespace tile_emu::ptx {

void ModuleState::add(const Cursor &cursor, Variable variable) {
  auto found = variables.find(variable.name);
  if (functions.count(variable.name) ||
      (found != variables.end() && !module.variables[found->second].isExtern &&
       !variable.isExtern)) {
    cursor.fail("'" + variable.name + "' is declared twice");
  }
  if (found != variables.end() && variable.isExtern) {
    return; // declared before
  }
  place(cursor, variable, ends[variable.space]);
  if (found != variables.end()) {
    module.variables[found->second] = std::move(variable);
    return;
  }
  variables.emplace(variable.name, module.variables.size());
  module.variables.push_back(std::move(variable));
}

void BodyParser::parse() {
  cursor.expectMark("{", "before the body of a function");
  while (scopes.depth()) {
    if (cursor.is(Token::Kind::End)) {
      cursor.failExpected("'}' after the body of a function");
    }
    if (cursor.acceptMark("}")) {
      scopes.close();
    } else if (cursor.acceptMark("{")) {
      if (!scopes.open()) {
        cursor.fail("scopes nested too deeply");
      }
    } else {
      statement();
    }
  }
}

void BodyParser::statement() {
  if (cursor.is(Token::Kind::DotName)) {
    directive();
  } else if (cursor.is(Token::Kind::Name) && cursor.isMark(":", 1)) {
    label();
  } else if (cursor.is(Token::Kind::Name) || cursor.isMark("@")) {
    instruction();
  } else if (!cursor.acceptMark(";")) {
    cursor.failExpected("an instruction, a label or a directive");
  }
}

void BodyParser::directive() {
  if (cursor.acceptDot("loc")) {
    source = parseLocation(cursor);
    return;
  }
  if (cursor.acceptDot("reg")) {
    registers();
    return;
  }
  if (cursor.acceptDot("pragma")) {
    skipPragma(cursor);
    return;
  }
  if (cursor.acceptDot("file")) {
    parseFile(cursor, state.module);
    return;
  }
  bool isExtern = cursor.acceptDot("extern");
  std::optional<Space> space =
      cursor.is(Token::Kind::DotName) ? spaceNamed(cursor.peek().text) : std::nullopt;
  if (!space || *space == Space::Reg) {
    cursor.failExpected("a directive that the body of a function can have");
  }
  cursor.take();
  variables(*space, isExtern);
}

void BodyParser::registers() {
  if (cursor.isDot("v2") || cursor.isDot("v4")) {
    cursor.fail("vector registers are not supported");
  }
  std::string_view typeText = cursor.peek().text;
  std::optional<Type> type = typeNamed(cursor.expectDot("the type of registers"));
  if (!type) {
    cursor.fail("no type '." + std::string(typeText) + "'");
  }
  do {
    std::string_view name = cursor.expectName("the name of a register");
    bool isNew = true;
    if (cursor.acceptMark("<")) {
      uint32_t count = cursor.expectNumber("a number of registers");
      cursor.expectMark(">", "after a number of registers");
      isNew = scopes.declareRegisters(name, count, *type);
    } else {
      isNew = scopes.declareRegister(name, *type);
    }
    if (!isNew) {
      cursor.fail("'" + std::string(name) + "' is declared twice");
    }
  } while (cursor.acceptMark(","));
  cursor.expectMark(";", "after a declaration");
}

std::string BodyParser::uniqueName(const std::string &name) {
  unsigned &count = copies[name];
  if (count == 0 && state.variables.count(name)) {
    count = 1;
  }
  // No name of the text has a dot.
  return ++count == 1 ? name : name + "." + std::to_string(count);
}

void BodyParser::variables(Space space, bool isExtern) {
  for (Declared &declared : parseVariables(cursor, space, isExtern)) {
    Variable variable = std::move(declared.variable);
    bool ofModule = space == Space::Global || space == Space::Const;
    variable.name = ofModule && !isExtern ? function.name + "." + uniqueName(variable.name)
                    : isExtern            ? variable.name
                                          : uniqueName(variable.name);
    if (!scopes.declareVariable(declared.name, variable.name)) {
      cursor.fail("'" + std::string(declared.name) + "' is declared twice");
    }
    if (ofModule || isExtern) {
      state.add(cursor, std::move(variable));
    } else {
      place(cursor, variable, ends[space]);
      function.variables.push_back(std::move(variable));
    }
  }
}

void BodyParser::label() {
  std::string_view name = cursor.take().text;
  cursor.take();
  if (cursor.acceptDot("branchtargets")) {
    branchTargets(name);
    return;
  }
  if (cursor.acceptDot("calltargets") || cursor.acceptDot("callprototype")) {
    cursor.skipStatement(); // of calls, which are not executed
    return;
  }
  if (!scopes.declareLabel(name, uint32_t(function.instructions.size()))) {
    cursor.fail("label '" + std::string(name) + "' stands twice");
  }
}

void BodyParser::branchTargets(std::string_view name) {
  uint32_t list = uint32_t(function.branchTargets.size());
  if (!scopes.declareTargets(name, list)) {
    cursor.fail("'" + std::string(name) + "' is declared twice");
  }
  function.branchTargets.emplace_back();
  do {
    uint32_t line = cursor.line();
    scopes.refer({Scopes::Reference::Kind::ListEntry, cursor.expectName("a label"), line, list,
                  uint32_t(function.branchTargets.back().size())});
    function.branchTargets.back().push_back(0);
  } while (cursor.acceptMark(","));
  cursor.expectMark(";", "after a list of branch targets");
}

void BodyParser::instruction() {
  Instruction instruction;
  instruction.line = cursor.line();
  instruction.source = source;
  if (cursor.acceptMark("@")) {
    instruction.guardNegated = cursor.acceptMark("!");
    std::string_view name = cursor.expectName("a predicate");
    const Scopes::Meaning *meaning = scopes.find(name);
    if (!meaning || !meaning->isRegister || function.registers[meaning->index].type != Type::Pred) {
      cursor.fail("'" + std::string(name) + "' is no predicate register");
    }
    instruction.guard = meaning->index;
    instruction.line = cursor.line();
  }
  instruction.opcode.emplace_back(cursor.expectName("an instruction"));
  while (cursor.is(Token::Kind::DotName)) {
    instruction.opcode.emplace_back(cursor.take().text);
  }
  operands(instruction);
  function.instructions.push_back(std::move(instruction));
}

SourceLocation parseLocation(Cursor &cursor) {
  SourceLocation location;
  location.file = cursor.expectNumber("the number of a file");
  location.line = cursor.expectNumber("a line");
  location.column = cursor.expectNumber("a column");
  while (cursor.acceptMark(",")) {
    std::string_view word = cursor.expectName("function_name or inlined_at");
    if (word == "function_name") {
      cursor.expectName("a label");
      parseOffset(cursor);
    } else if (word == "inlined_at") {
      for (int i = 0; i < 3; ++i) {
        cursor.expectNumber("the file, line and column of a call");
      }
    } else {
      cursor.fail("'" + std::string(word) + "' after .loc");
    }
  }
  if (location.line == 0) {
    return {}; // of no line in particular
  }
  return location;
}

void parseFile(Cursor &cursor, Module &module) {
  uint32_t number = cursor.expectNumber("the number of a file");
  std::string name(cursor.expectString("the name of a file"));
  if (cursor.is(Token::Kind::String)) {
    name += "/" + std::string(cursor.take().text); // folder first
  }
  while (cursor.acceptMark(",")) { // time and size
    if (!cursor.is(Token::Kind::Integer)) {
      cursor.failExpected("a number");
    }
    cursor.take();
  }
  module.files[number] = std::move(name);
}

void skipPragma(Cursor &cursor) {
  do {
    cursor.expectString("the text of a pragma");
  } while (cursor.acceptMark(","));
  cursor.expectMark(";", "after a pragma");
}

} // namespace tile_emu::ptx
