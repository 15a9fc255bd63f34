// The syntax tree: one class for each production of the grammar in docs/language.md, section 2.
//
// Nodes are immutable, allocated in an ast::Context and freed with it, all at once; none has a
// destructor, so deep trees cost nothing to free. Names are slices of the source buffers: the
// SourceMgr that holds them must outlive the tree. Every node has the range of its source text;
// round brackets leave no node, they only widen the range of what they hold. Trees are at most
// `maxDepth` levels deep, so recursion over them is safe. A node never has null children except
// where a comment says so.
#pragma once

#include "compiler/parse/AstStmt.h"

namespace tilec::ast {

enum class ItemKind : uint8_t { Import, Const, Function, Kernel, Instantiate, Tune };

class Item {
public:
  const ItemKind kind;
  SMRange range;

protected:
  Item(ItemKind kind, SMRange range) : kind(kind), range(range) {}
};

class ImportItem : public Item {
public:
  StringRef path; // as written
  SMRange pathRange;
  ImportItem(SMRange range, StringRef path, SMRange pathRange)
      : Item(ItemKind::Import, range), path(path), pathRange(pathRange) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Import; }
};

class ConstItem : public Item {
public:
  ConstDecl decl;
  ConstItem(SMRange range, ConstDecl decl) : Item(ItemKind::Const, range), decl(decl) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Const; }
};

/// A parameter of a function. Which fields are set depends on its form.
struct FunctionParam {
  enum Form : uint8_t {
    Value,    // name: type                    -> type (no shape)
    Buffer,   // name: dir scope tile_type     -> direction, scope, type
    Tensor,   // name: dir tensor<type>[shape] -> direction, type
    Constant, // const name: kind              -> kind
  };
  Form form = Value;
  SMRange range;
  Ident name;
  Direction direction = Direction::In;
  Scope scope = Scope::Shared;
  TileType type;
  ParamKind kind = ParamKind::Int;
};

/// `fn` or `tile fn`.
class FunctionItem : public Item {
public:
  Ident name;
  bool isTile;
  ArrayRef<GenericParam> generics;
  ArrayRef<FunctionParam> params;
  ArrayRef<TileType> results; // empty without `->`
  bool tupleResult;           // the results are in brackets
  Block body;
  FunctionItem(SMRange range, Ident name, bool isTile, ArrayRef<GenericParam> generics,
               ArrayRef<FunctionParam> params, ArrayRef<TileType> results, bool tupleResult,
               Block body)
      : Item(ItemKind::Function, range), name(name), isTile(isTile), generics(generics),
        params(params), results(results), tupleResult(tupleResult), body(body) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Function; }
};

/// A parameter of a kernel: a scalar or a tensor.
struct KernelParam {
  SMRange range;
  Ident name;
  bool isTensor = false;
  TileType type; // of a tensor: element type and extents; of a scalar: no shape
  // The rest is for tensors.
  bool isOptional = false;
  Direction direction = Direction::In;
  bool isStrided = false;
  const Expr *align = nullptr; // null if absent
  ArrayRef<Ident> mayAlias;
};

class KernelItem : public Item {
public:
  ArrayRef<Annotation> annotations;
  Ident name;
  ArrayRef<GenericParam> generics;
  ArrayRef<KernelParam> params;
  ArrayRef<const Expr *> where;
  Block body;
  KernelItem(SMRange range, ArrayRef<Annotation> annotations, Ident name,
             ArrayRef<GenericParam> generics, ArrayRef<KernelParam> params,
             ArrayRef<const Expr *> where, Block body)
      : Item(ItemKind::Kernel, range), annotations(annotations), name(name), generics(generics),
        params(params), where(where), body(body) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Kernel; }
};

/// `NAME = value`, or `auto`.
struct Given {
  SMRange range;
  Ident name;                  // absent for `auto`
  const Expr *value = nullptr; // null for `auto`
  bool isAuto() const { return value == nullptr; }
};

class InstantiateItem : public Item {
public:
  Ident kernel;
  ArrayRef<Given> given;
  Ident symbol;
  ArrayRef<const Expr *> where;
  InstantiateItem(SMRange range, Ident kernel, ArrayRef<Given> given, Ident symbol,
                  ArrayRef<const Expr *> where)
      : Item(ItemKind::Instantiate, range), kernel(kernel), given(given), symbol(symbol),
        where(where) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Instantiate; }
};

/// `NAME in [a, b];` or `NAME in a..b;`
struct TuneParam {
  SMRange range;
  Ident name;
  const ListExpr *list = nullptr; // null if it is a range
  Range bounds;                   // set if `list` is null
};

class TuneItem : public Item {
public:
  Ident kernel;
  ArrayRef<TuneParam> params;
  ArrayRef<const Expr *> where; // of all `where` clauses, in order
  const Expr *keep;             // of the last `keep`, or null
  TuneItem(SMRange range, Ident kernel, ArrayRef<TuneParam> params, ArrayRef<const Expr *> where,
           const Expr *keep)
      : Item(ItemKind::Tune, range), kernel(kernel), params(params), where(where), keep(keep) {}
  static bool classof(const Item *i) { return i->kind == ItemKind::Tune; }
};

/// A `//!` line.
struct HeaderLine {
  SMRange range;
  StringRef text; // what follows `//!`, without the line break
};

/// A clause of a case line: `M, N in [1, 7]`, `T = f16`.
struct CaseClause {
  ArrayRef<Ident> names;
  bool isIn = false;             // `in`, else `=`
  bool isList = false;           // the values are in brackets
  ArrayRef<const Expr *> values; // one, or the elements of a list
};

struct File {
  StringRef name;    // as diagnostics show it
  unsigned bufferId; // in the SourceMgr
  ArrayRef<HeaderLine> header;
  ArrayRef<const Item *> items;
};

} // namespace tilec::ast
