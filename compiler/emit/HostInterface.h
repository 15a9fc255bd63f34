// How a program calls the kernels of an object (`--emit=obj`): the names and members that header and
// object agree on. Both are written from this and nothing else.
#pragma once

#include "runtime/support/DType.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace tilec {

/// A member of the struct of a kernel's arguments, in the struct's order.
struct HostMember {
  enum class Kind {
    Tensor,  ///< a pointer
    Strides, ///< a pointer to as many int64_t as the tensor has dimensions; null: contiguous
    Extent,  ///< int64_t: a dimension of the kernel, or an extent that nothing else says
    Scalar,  ///< f16 and bf16 as float
  };
  Kind kind;
  std::string name;    ///< in C
  std::string type;    ///< in C, as it stands before the name: "const float *", "int64_t "
  std::string comment; ///< may be empty
  tile_rt::DType dtype = tile_rt::DType::I64;
};

/// Where the host functions take the extent of a tensor from: the expression, over members, or one
/// member.
struct HostExtent {
  llvm::json::Value expression = nullptr;
  int member = -1; ///< index, where the caller says it
};

struct HostArgument {
  enum class Direction { In, Out, InOut };
  std::string name; ///< in the kernel
  tile_rt::DType dtype = tile_rt::DType::F32;
  bool isTensor = false, isOptional = false, isStrided = false;
  Direction direction = Direction::In;
  int64_t align = 0;
  unsigned member = 0; ///< the pointer or the value
  int strides = -1;    ///< the member, if it has one
  std::vector<HostExtent> extents;
  std::string shape; ///< "[M, K]", as the kernel has it
};

/// A name of the kernel that expressions use, and the member that holds its value.
struct HostName {
  std::string name;
  unsigned member;
};

struct HostKernel {
  std::string symbol;
  /// The functions in C, and the struct.
  std::string call, args, workspace, prepare, describe, handle;
  /// What a second symbol of functions that depend on the struct ends in: a digest of the arguments. Programs with
  /// the header of another object do not link.
  std::string suffix;
  std::vector<HostArgument> arguments;
  std::vector<HostMember> members;
  std::vector<HostName> dimensions;
};

/// Reads the kernels of a manifest, or of what buildSignatures() made. `prefix` stands before all names.
std::vector<HostKernel> describeInterface(const llvm::json::Object &manifest,
                                          llvm::StringRef prefix);

} // namespace tilec
