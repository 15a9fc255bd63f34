#include "Scope.h"

namespace tile_emu::ptx {

namespace {

constexpr size_t kMaxScopes = 64;

/// The number that digits without needless zeros mean, if it is below `count`.
bool isNumberBelow(std::string_view digits, uint32_t count) {
  if (digits.empty() || digits.size() > 10 || (digits.size() > 1 && digits.front() == '0')) {
    return false;
  }
  uint64_t number = 0;
  for (char digit : digits) {
    number = number * 10 + unsigned(digit - '0');
  }
  return number < count;
}

} // namespace

bool Scopes::open() {
  if (scopes.size() == kMaxScopes) {
    return false;
  }
  scopes.emplace_back();
  return true;
}

bool Scopes::resolve(const Scope &scope, const Reference &reference) {
  const auto &table = reference.kind == Reference::Kind::List ? scope.targets : scope.labels;
  auto found = table.find(reference.name);
  if (found == table.end()) {
    return false;
  }
  if (reference.kind == Reference::Kind::ListEntry) {
    function.branchTargets[reference.owner][reference.slot] = found->second;
  } else {
    function.instructions[reference.owner].operands[reference.slot].index = found->second;
  }
  return true;
}

void Scopes::close() {
  Scope scope = std::move(scopes.back());
  scopes.pop_back();
  for (const Reference &reference : scope.references) {
    if (resolve(scope, reference)) {
      continue;
    }
    if (scopes.empty()) {
      throw SyntaxError(
          reference.line,
          (reference.kind == Reference::Kind::List ? "no list of branch targets '" : "no label '") +
              std::string(reference.name) + "'");
    }
    scopes.back().references.push_back(reference);
  }
}

bool Scopes::declareRegister(std::string_view name, Type type) {
  Meaning meaning{true, uint32_t(function.registers.size()), {}};
  if (!scopes.back().names.try_emplace(name, std::move(meaning)).second) {
    return false;
  }
  function.registers.push_back({std::string(name), type});
  return true;
}

bool Scopes::declareRegisters(std::string_view prefix, uint32_t count, Type type) {
  return scopes.back().ranges.try_emplace(prefix, Range{count, type}).second;
}

bool Scopes::declareVariable(std::string_view name, std::string uniqueName) {
  return scopes.back().names.try_emplace(name, Meaning{false, 0, std::move(uniqueName)}).second;
}

bool Scopes::declareLabel(std::string_view name, uint32_t instruction) {
  return scopes.back().labels.try_emplace(name, instruction).second;
}

bool Scopes::declareTargets(std::string_view name, uint32_t list) {
  return scopes.back().targets.try_emplace(name, list).second;
}

const Scopes::Meaning *Scopes::findInRanges(Scope &scope, std::string_view name) {
  if (scope.ranges.empty()) {
    return nullptr;
  }
  // The prefix may end in digits itself.
  for (size_t cut = name.size(); cut > 1; --cut) {
    char last = name[cut - 1];
    if (last < '0' || last > '9' || name.size() - cut >= 10) {
      return nullptr;
    }
    auto range = scope.ranges.find(name.substr(0, cut - 1));
    if (range != scope.ranges.end() && isNumberBelow(name.substr(cut - 1), range->second.count)) {
      Meaning meaning{true, uint32_t(function.registers.size()), {}};
      function.registers.push_back({std::string(name), range->second.type});
      return &scope.names.try_emplace(name, std::move(meaning)).first->second;
    }
  }
  return nullptr;
}

const Scopes::Meaning *Scopes::find(std::string_view name) {
  for (size_t i = scopes.size(); i-- > 0;) {
    auto found = scopes[i].names.find(name);
    if (found != scopes[i].names.end()) {
      return &found->second;
    }
    if (const Meaning *meaning = findInRanges(scopes[i], name)) {
      return meaning;
    }
  }
  return nullptr;
}

void Scopes::refer(const Reference &reference) { scopes.back().references.push_back(reference); }

} // namespace tile_emu::ptx
