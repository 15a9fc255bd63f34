#include "Parser.h"

#include "Body.h"
#include "Declarations.h"

namespace tile_emu::ptx {

namespace {

class ModuleParser {
public:
  explicit ModuleParser(std::string_view text) : cursor(tokenize(text)) {}

  Module run() {
    while (!cursor.is(Token::Kind::End)) {
      directive();
    }
    if (state.module.version.empty()) {
      cursor.fail("the text has no .version");
    }
    if (state.module.target.empty()) {
      cursor.fail("the text has no .target");
    }
    return std::move(state.module);
  }

private:
  void directive();
  bool describing();
  void section();
  void declaration();
  void function(bool isEntry);
  void parameters(Function &function, Scopes &scopes, std::map<Space, uint64_t> &ends,
                  bool isResult);
  void tuning(Function &function);
  std::array<unsigned, 3> threeNumbers();

  Cursor cursor;
  ModuleState state;
};

void ModuleParser::directive() {
  if (cursor.acceptMark(";") || describing()) {
    return;
  }
  if (!cursor.is(Token::Kind::DotName)) {
    cursor.failExpected("a directive");
  }
  declaration();
}

/// Directives that declare nothing.
bool ModuleParser::describing() {
  if (cursor.acceptDot("version")) {
    if (!cursor.is(Token::Kind::Float)) {
      cursor.failExpected("a version");
    }
    state.module.version = cursor.take().text;
  } else if (cursor.acceptDot("target")) {
    state.module.target = cursor.expectName("an architecture");
    while (cursor.acceptMark(",")) {
      cursor.expectName("an option of .target");
    }
  } else if (cursor.acceptDot("address_size")) {
    if (cursor.expectNumber("a size") != 64) {
      cursor.fail("addresses of 64 bits are supported only");
    }
  } else if (cursor.acceptDot("file")) {
    parseFile(cursor, state.module);
  } else if (cursor.acceptDot("section")) {
    section();
  } else if (cursor.acceptDot("pragma")) {
    skipPragma(cursor);
  } else if (cursor.acceptDot("loc")) {
    parseLocation(cursor);
  } else {
    return false;
  }
  return true;
}

void ModuleParser::section() {
  cursor.expectDot("the name of a section");
  if (!cursor.isMark("{")) {
    cursor.failExpected("'{' after the name of a section");
  }
  cursor.skipNested("{", "}");
}

void ModuleParser::declaration() {
  bool isExtern = false;
  for (;;) {
    if (cursor.acceptDot("extern")) {
      isExtern = true;
    } else if (!cursor.acceptDot("visible") && !cursor.acceptDot("weak") &&
               !cursor.acceptDot("common")) {
      break;
    }
  }
  if (cursor.acceptDot("entry")) {
    return function(true);
  }
  if (cursor.acceptDot("func")) {
    return function(false);
  }
  std::optional<Space> space =
      cursor.is(Token::Kind::DotName) ? spaceNamed(cursor.peek().text) : std::nullopt;
  if (space != Space::Global && space != Space::Const && space != Space::Shared) {
    cursor.failExpected("a function, a variable or another directive of modules");
  }
  cursor.take();
  for (Declared &declared : parseVariables(cursor, *space, isExtern)) {
    state.add(cursor, std::move(declared.variable));
  }
}

void ModuleParser::parameters(Function &function, Scopes &scopes, std::map<Space, uint64_t> &ends,
                              bool isResult) {
  cursor.expectMark("(", "before parameters");
  while (!cursor.acceptMark(")")) {
    std::string_view name;
    bool isNew = true;
    if (!function.isEntry && cursor.acceptDot("reg")) {
      std::optional<Type> type = typeNamed(cursor.expectDot("a type"));
      name = cursor.expectName("the name of a register");
      isNew = type && scopes.declareRegister(name, *type);
    } else {
      if (!cursor.acceptDot("param")) {
        cursor.failExpected("'.param'");
      }
      Declared declared = parseParameter(cursor);
      name = declared.name;
      place(cursor, declared.variable, ends[Space::Param]);
      isNew = scopes.declareVariable(name, declared.variable.name);
      (isResult ? function.variables : function.params).push_back(std::move(declared.variable));
    }
    if (!isNew) {
      cursor.fail("parameter '" + std::string(name) + "' is declared twice or has no type");
    }
    if (!cursor.isMark(")")) {
      cursor.expectMark(",", "between parameters");
    }
  }
}

std::array<unsigned, 3> ModuleParser::threeNumbers() {
  std::array<unsigned, 3> result{1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    result[i] = cursor.expectNumber("a number of threads or blocks");
    if (!cursor.acceptMark(",")) {
      break;
    }
  }
  return result;
}

/// What stands between the parameters and the body.
void ModuleParser::tuning(Function &function) {
  while (cursor.is(Token::Kind::DotName)) {
    if (cursor.acceptDot("reqntid")) {
      function.requiredThreads = threeNumbers();
    } else if (cursor.acceptDot("maxntid")) {
      function.maxThreads = threeNumbers();
    } else if (cursor.acceptDot("reqnctapercluster")) {
      function.requiredCluster = threeNumbers();
    } else if (cursor.acceptDot("minnctapersm") || cursor.acceptDot("maxnctapersm") ||
               cursor.acceptDot("maxnreg") || cursor.acceptDot("maxclusterrank") ||
               cursor.acceptDot("abi_preserve") || cursor.acceptDot("abi_preserve_control")) {
      cursor.expectNumber("a number");
    } else if (cursor.acceptDot("pragma")) {
      skipPragma(cursor);
    } else if (!cursor.acceptDot("explicitcluster") && !cursor.acceptDot("noreturn") &&
               !cursor.acceptDot("unique")) {
      cursor.failExpected("a directive of functions or '{'");
    }
  }
}

void ModuleParser::function(bool isEntry) {
  Function function;
  function.isEntry = isEntry;
  Scopes scopes(function);
  std::map<Space, uint64_t> ends;
  if (!isEntry && cursor.isMark("(")) {
    parameters(function, scopes, ends, /*isResult=*/true);
  }
  function.name = cursor.expectName("the name of a function");
  if (state.variables.count(function.name) || state.defined.count(function.name)) {
    cursor.fail("'" + function.name + "' is declared twice");
  }
  state.functions.insert(function.name);
  if (cursor.isMark("(")) {
    parameters(function, scopes, ends, /*isResult=*/false);
  }
  tuning(function);
  if (cursor.acceptMark(";")) {
    return; // declared, not defined
  }
  state.defined.insert(function.name);
  BodyParser(cursor, state, function, scopes, ends).parse();
  state.module.functions.push_back(std::move(function));
}

} // namespace

Module parse(std::string_view text) { return ModuleParser(text).run(); }

} // namespace tile_emu::ptx
