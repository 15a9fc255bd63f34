//===- Facts.cpp - declared discardable attributes ------------------------===//
#include "dialects/tile/Facts.h"

using namespace mlir;
using namespace tilec;

static bool isIntegerOfWidth(Attribute value, unsigned width) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && integer.getType().isSignlessInteger(width);
}

bool tilec::isI32AtLeast(Attribute value, int64_t least) {
  return isIntegerOfWidth(value, 32) && cast<IntegerAttr>(value).getInt() >= least;
}

bool tilec::isI64AtLeast(Attribute value, int64_t least) {
  return isIntegerOfWidth(value, 64) && cast<IntegerAttr>(value).getInt() >= least;
}

bool tilec::isI64PowerOfTwo(Attribute value) {
  return isI64AtLeast(value, 1) && llvm::isPowerOf2_64(cast<IntegerAttr>(value).getInt());
}

bool tilec::isStrings(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, llvm::IsaPred<StringAttr>);
}

LogicalResult tilec::verifyFact(ArrayRef<FactRule> rules, Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName().strref();
  const FactRule *rule =
      llvm::find_if(rules, [&](const FactRule &candidate) { return candidate.name == name; });
  if (rule == rules.end()) {
    return op->emitOpError("has an attribute `")
           << name << "` that its dialect does not declare here";
  }
  if (!rule->holder(op)) {
    return op->emitOpError("cannot hold `") << name << '`';
  }
  if (!rule->fits(attribute.getValue())) {
    return op->emitOpError() << '`' << name << "` is " << rule->what << ", not "
                             << attribute.getValue();
  }
  return success();
}

LogicalResult tilec::verifyDeclaredAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (!attribute.getName().strref().contains('.')) {
      return op->emitOpError("has no attribute `") << attribute.getName().strref() << '`';
    }
  }
  return success();
}
