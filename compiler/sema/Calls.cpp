//===- Calls.cpp - What a call means, and its arguments -------------------===//
#include "compiler/basic/Spelling.h"
#include "compiler/sema/Analyzer.h"

namespace tilec::sema {

using diag::Id;

const Module::Imported<ast::FunctionItem> *Analyzer::findFunction(llvm::StringRef name) {
  auto it = frame.env->module->functions.find(name);
  return it == frame.env->module->functions.end() ? nullptr : &it->second;
}

Value Analyzer::analyzeCall(const ast::CallExpr *e) {
  if (auto type = lookupType(e->callee.name)) {
    return convertCall(e, *type);
  }
  if (auto *fn = findFunction(e->callee.name)) {
    return fn->item->isTile ? callTileFunction(e, *fn) : callFunction(e, *fn);
  }
  if (const BuiltinInfo *info = findBuiltin(e->callee.name)) {
    return callBuiltin(e, *info);
  }
  auto builder = report(Id::UndeclaredFunction, e->callee.range, e->callee.name);
  if (lookup(e->callee.name)) {
    builder.hint("it is no function; subscripts stand in brackets: `" + e->callee.name + "[...]`");
  }
  return errorValue(e->range);
}

Value Analyzer::convertCall(const ast::CallExpr *e, Scalar to) {
  if (e->args.size() != 1) {
    report(Id::ArgumentCount, e->range, e->callee.name, counted(1, "argument"), e->args.size());
    return errorValue(e->range);
  }
  if (e->args[0].name) {
    report(Id::ArgumentName, e->args[0].name.range, e->callee.name, e->args[0].name.name);
    return errorValue(e->range);
  }
  return convert(part(e->args[0].value), to, e->range);
}

static size_t positionalCount(const BuiltinInfo &info) {
  return llvm::count_if(info.params, [](const BuiltinParam &p) { return !p.named; });
}

/// Sorts a call's arguments into the parameters of a built-in function.
bool Analyzer::bindArgs(const ast::CallExpr *e, const BuiltinInfo &info, BoundArgs &out) {
  out.slots.resize(info.params.size());
  size_t next = 0, positional = positionalCount(info);
  const ast::Arg *named = nullptr;
  for (const ast::Arg &arg : e->args) {
    size_t slot;
    if (arg.name) {
      named = &arg;
      auto it = llvm::find_if(info.params,
                              [&](const BuiltinParam &p) { return p.name == arg.name.name; });
      if (it == info.params.end()) {
        llvm::SmallVector<llvm::StringRef> names;
        for (const BuiltinParam &p : info.params) {
          names.push_back(p.name);
        }
        report(Id::ArgumentName, arg.name.range, info.name, arg.name.name)
            .meant(arg.name.name, names);
        return false;
      }
      slot = it - info.params.begin();
      if (!out.slots[slot].empty()) {
        report(Id::ArgumentTwice, arg.name.range, info.name, arg.name.name);
        return false;
      }
    } else {
      if (named) {
        report(Id::ArgumentOrder, arg.value->range, info.name);
        return false;
      }
      if (next >= positional) {
        report(Id::ArgumentCount, e->range, info.name, counted(positional, "argument"),
               e->args.size());
        return false;
      }
      slot = next;
      next += !info.params[next].repeated;
    }
    out.slots[slot].push_back(arg.value);
  }
  for (auto [slot, param] : llvm::zip(out.slots, info.params)) {
    if (slot.empty() && !param.optional) {
      report(Id::ArgumentMissing, e->range, info.name, param.name);
      return false;
    }
  }
  return true;
}

/// Reports a call or statement that cannot stand in the current kind of code.
static void reportPlace(DiagnosticEngine &engine, Mode mode, llvm::StringRef name,
                        SourceRange range) {
  std::string what = ("`" + name + "`").str();
  switch (mode) {
  case Mode::Constant:
    engine.report(Id::NotConstant, range, "this value")
        .hint(llvm::Twine(what) + " is not computed when compiling");
    return;
  case Mode::Host:
    engine.report(Id::HostExpression, range, what);
    return;
  case Mode::Parallel:
    engine.report(Id::ParallelBody, range, what);
    return;
  case Mode::Region:
    engine.report(Id::ThreadBody, range, what);
    return;
  case Mode::Block:
    engine.report(Id::CallPlace, range, name, "block code").hint("use it in a `threads` region");
    return;
  case Mode::Fn:
    engine.report(Id::CallPlace, range, name, "a scalar function");
    return;
  }
}

Value Analyzer::callBuiltin(const ast::CallExpr *e, const BuiltinInfo &info) {
  static constexpr char letters[] = {'C', 'H', 'B', 'P', 'R', 'F'};
  if (!info.contexts.contains(letters[unsigned(frame.mode)])) {
    reportPlace(engine, frame.mode, info.name, e->callee.range);
    return errorValue(e->range);
  }
  BoundArgs args;
  if (!bindArgs(e, info, args)) {
    return errorValue(e->range);
  }
  switch (info.cls) {
  case BuiltinClass::MathNumber:
  case BuiltinClass::MathFloat:
  case BuiltinClass::MathInteger:
    return mathCall(e, info, args);
  case BuiltinClass::Bitcast:
    return bitcast(e, args);
  case BuiltinClass::TypeQuery:
    return typeQuery(e, info, args);
  case BuiltinClass::NumThreads:
  case BuiltinClass::Stride:
  case BuiltinClass::SmCount:
  case BuiltinClass::Present:
    return hostCall(e, info, args);
  case BuiltinClass::Reshape:
    return reshape(e, args);
  case BuiltinClass::Copy:
    return copyCall(e, args);
  case BuiltinClass::Gemm:
    return gemmCall(e, args);
  case BuiltinClass::Reduce:
    return reduceCall(e, info, args);
  case BuiltinClass::ReduceFn:
  case BuiltinClass::ScanFn:
    return reduceFnCall(e, info, args);
  case BuiltinClass::Scan:
    return scanCall(e, info, args);
  case BuiltinClass::Transpose:
    return transposeCall(e, args);
  case BuiltinClass::Atomic:
    return atomicCall(e, info, args);
  case BuiltinClass::Print:
    return printCall(e, args);
  case BuiltinClass::Assert:
    return assertCall(e, info, args);
  case BuiltinClass::Sync:
  case BuiltinClass::Warp:
  case BuiltinClass::Shuffle:
  case BuiltinClass::Lane:
    return threadCall(e, info, args);
  }
  return errorValue(e->range);
}

/// Puts the arguments of a user function in the order of its parameters.
bool Analyzer::orderArgs(const ast::CallExpr *e, const ast::FunctionItem &fn,
                         llvm::SmallVectorImpl<const ast::Expr *> &out) {
  out.assign(fn.params.size(), nullptr);
  bool named = false;
  size_t next = 0;
  for (const ast::Arg &arg : e->args) {
    size_t slot = next;
    if (arg.name) {
      named = true;
      auto it = llvm::find_if(
          fn.params, [&](const ast::FunctionParam &p) { return p.name.name == arg.name.name; });
      if (it == fn.params.end()) {
        llvm::SmallVector<llvm::StringRef> names;
        for (const ast::FunctionParam &p : fn.params) {
          names.push_back(p.name.name);
        }
        report(Id::ArgumentName, arg.name.range, fn.name.name, arg.name.name)
                .meant(arg.name.name, names)
            << note(fn.name.range, "declared here");
        return false;
      }
      slot = it - fn.params.begin();
    } else if (named) {
      report(Id::ArgumentOrder, arg.value->range, fn.name.name);
      return false;
    } else if (next++ >= fn.params.size()) {
      report(Id::ArgumentCount, e->range, fn.name.name, counted(fn.params.size(), "argument"),
             e->args.size())
          << note(fn.name.range, "declared here");
      return false;
    }
    if (out[slot]) {
      report(Id::ArgumentTwice, arg.value->range, fn.name.name, fn.params[slot].name.name);
      return false;
    }
    out[slot] = arg.value;
  }
  for (auto [arg, param] : llvm::zip(out, fn.params)) {
    if (!arg) {
      report(Id::ArgumentMissing, e->range, fn.name.name, param.name.name)
          << note(fn.name.range, "declared here");
      return false;
    }
  }
  return true;
}

} // namespace tilec::sema
