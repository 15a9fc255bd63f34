// What a kernel is measured beside: a product by cuBLAS, of the same operands on the same device.
#pragma once

#include "runtime/harness/Array.h"
#include "runtime/src/Device.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tile_run {

/// `cublas(A, B, C, transpose_b = true, precision = tf32)`: the words are those of the language's `gemm`.
struct BaselineSpec {
  std::string a, b, c;
  bool transposeA = false, transposeB = false, tf32 = false;
};

/// Throws tile_rt::InputError for what is no baseline.
BaselineSpec parseBaseline(const std::string &text);

/// Why there is none: a library is missing or refuses, or there is no such product. No error of the kernel's.
struct NoBaseline : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Baseline {
public:
  virtual ~Baseline() = default;
  /// "cublas 13.0.2"
  virtual std::string name() const = 0;
  /// Enqueues it on the default stream, into memory of its own.
  virtual void run() = 0;
  /// What it has computed, after a run.
  virtual tile_rt::Array result() const = 0;
};

/// The product of arguments of a call, with the device's context current. Throws NoBaseline, and InputError where the
/// arguments have no such names.
std::unique_ptr<Baseline> openBaseline(const BaselineSpec &spec, const tile_context &context,
                                       const tile_rt::Kernel &kernel,
                                       std::span<const tile_arg> args);

/// An argument's tensor as it is on the device.
tile_rt::Array readTensor(const tile_rt::Driver &driver, const tile_arg &arg);

} // namespace tile_run
