// The manifest of a pack with all names resolved; docs/pack.md says what the members mean.
#pragma once

#include "Expr.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tile_rt {

struct Module {
  enum class Kind { Fatbin, Cubin, Ptx };
  std::string arch; ///< "sm_90a"
  Kind kind = Kind::Fatbin;
  uint64_t offset = 0, bytes = 0;       ///< within the body; checked to lie in it
  uint64_t ptxOffset = 0, ptxBytes = 0; ///< its PTX, likewise; 0 bytes: none
};

enum class Direction : uint8_t { In, Out, InOut };

struct Argument {
  std::string name;
  bool isTensor = false;
  DType dtype = DType::F32;
  Direction direction = Direction::In;
  std::vector<Expr> extents;
  bool optional = false, strided = false;
  uint64_t align = 16;
  std::vector<unsigned> mayAlias; ///< arguments
  bool isWritten() const { return direction != Direction::In; }
};

struct Dimension {
  std::string name;
  DType type = DType::I32;
  std::optional<int64_t> value; ///< fixed; else bound by:
  unsigned arg = 0, axis = 0;
  int64_t offset = 0;
};

struct Check {
  Expr expr;
  std::string text, diagnostic;
};

struct TensorMap {
  bool ofWorkspace = false;
  unsigned index = 0; ///< argument or workspace
  DType dtype = DType::F16;
  std::vector<Expr> dims, strides;
  Expr offset;
  std::vector<uint32_t> box, elementStrides;
  unsigned swizzle = 0, l2Promotion = 0;
  bool nanFill = false;
};

struct Parameter {
  /// CheckRecord: address of the record of failures; CheckBase: what a place's number there is
  /// counted from; PrintBuffer, PrintBase: the same of the buffer of messages.
  enum class Kind {
    Tensor,
    Workspace,
    TensorMap,
    Scalar,
    CheckRecord,
    CheckBase,
    PrintBuffer,
    PrintBase
  };
  Kind kind = Kind::Scalar;
  unsigned index = 0; ///< argument, workspace or tensor map
  Expr expr;
  DType type = DType::I32; ///< of a scalar
};

struct Blocks {
  enum class Kind { Direct, Persistent, Explicit };
  Kind kind = Kind::Direct;
  unsigned perSm = 1;
  std::vector<Expr> extents; ///< three, when explicit
};

/// A check in a kernel built with --check, and what it says when it fails.
struct CheckPlace {
  unsigned number = 0;
  std::string file;
  unsigned line = 0, column = 0;
  std::string text; ///< each `{}` stands for a value
  std::vector<DType> values;
};

/// A `print` in a kernel.
struct PrintText {
  struct Shown {
    DType type = DType::I32;
    std::vector<uint32_t> shape; ///< empty: a scalar
  };
  unsigned number = 0;
  std::string text; ///< each `{}` stands for a value
  std::vector<Shown> values;
};

/// A name for a part of a variant's cost.
struct CostLet {
  unsigned index = 0; ///< its slot, as a statement's
  DType type = DType::F64;
  Expr expr;
};

struct Variant {
  std::string name, entry;
  unsigned module = 0;
  std::optional<Expr> guard, cost;
  std::vector<CostLet> lets; ///< in order, what `cost` names; computed only where the cost is
  std::array<unsigned, 3> block{1, 1, 1};
  std::array<unsigned, 3> cluster{1, 1, 1};
  Blocks blocks;
  uint64_t sharedBytes = 0, staticSharedBytes = 0;
  bool overlaps =
      false; ///< it may begin before the launch before it has ended: its code waits for that one
  bool precedes = false; ///< its code lets the launch behind it begin before it has ended
  std::optional<uint32_t> registers, spillBytes; ///< of a thread; for reports
  std::vector<Parameter> params;
  std::vector<TensorMap> tensorMaps;
  std::vector<CheckPlace> checks;
  std::vector<PrintText> prints;
};

struct Workspace {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Expr> extents;
  std::optional<Value> init;
};

struct Statement {
  enum class Kind { Let, Workspace, If, Launch };
  Kind kind = Kind::Let;
  unsigned index = 0; ///< slot of the let or workspace; number of the launch within the kernel
  std::string name;
  DType type = DType::I32; ///< of a let
  Expr expr;               ///< of a let; condition of an if
  Workspace workspace;
  std::vector<Statement> then, otherwise;
  std::vector<Expr> grid;
  std::vector<Variant> variants;
};

/// Compile-time parameters as text: {"T", "f16"}, {"BM", "128"}, sorted by name.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// One way to carry out a kernel's calls: what it was compiled for, and its host program.
struct Configuration {
  Parameters params;         ///< those that the kernel's configurations do not share
  std::vector<Check> checks; ///< of calls that take it, besides the kernel's
  std::vector<Statement> host;
  unsigned numLets = 0, numWorkspaces = 0, numLaunches = 0;
};

/// A configuration that calls of these dimensions take, whatever the costs say.
struct Preference {
  /// Of a dimension or, with `isScalar`, of an argument.
  struct Range {
    bool isScalar = false;
    unsigned index = 0;
    int64_t least = 0, most = 0; ///< both included
  };
  std::vector<Range> ranges;
  unsigned configuration = 0;
  /// Of calls whose rows start at such places alone. A plan is for `Any` if some launch takes a variant of that name, for `Words` if none does and
  /// some takes `words`, for `Aligned` if some takes `aligned` or `clustered` and none the others; a call's rows are what the plan that relies on
  /// most is for, `Aligned` if none says.
  enum class Rows : uint8_t { Aligned, Words, Any };
  static constexpr std::array<const char *, 3> rowsNames = {"aligned", "words", "any"};
  std::optional<Rows> rows;
};

struct Kernel {
  std::string symbol;
  std::string source; ///< its name in the source
  Parameters params;  ///< of all configurations
  std::vector<Argument> arguments;
  std::vector<Dimension> dims;
  std::vector<Check> checks;
  std::vector<Configuration> configurations; ///< at least one
  std::vector<Preference> preferences;       ///< the first one that takes a call counts
};

struct Manifest {
  std::string compiler, sourceHash;
  std::vector<Module> modules;
  std::vector<Kernel> kernels;
};

/// Reads a manifest whose modules lie in a body of `bodyBytes`. Throws Error with TILE_ERROR_PACK,
/// saying where, for whatever is missing, of the wrong type, unknown, or does not resolve.
Manifest parseManifest(std::string_view json, uint64_t bodyBytes);

/// A pack taken apart; the views point into `bytes`.
struct PackParts {
  std::string_view manifest, body;
};
/// Checks the header and the sizes. Throws Error with TILE_ERROR_PACK.
PackParts splitPack(std::string_view bytes);

} // namespace tile_rt
