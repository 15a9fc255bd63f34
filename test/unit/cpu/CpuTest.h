// Runs kernels written in the tile dialect on the cpu target.
#pragma once

#include "compiler/cpu/CpuProgram.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/support/Floats.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tilec::cpu {

using tile_rt::DType;

/// Text with every `from` replaced by `to`: types and sizes of a kernel.
inline std::string with(std::string text,
                        std::initializer_list<std::pair<std::string, std::string>> replacements) {
  for (const auto &[from, to] : replacements) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

/// A dense tensor of one element type, 64-byte aligned, its numbers as f64.
class Tensor {
public:
  Tensor(llvm::StringRef dtype, DType num, std::vector<int64_t> shape)
      : dtype(dtype), num(num), shape(std::move(shape)) {
    count = 1;
    for (int64_t extent : this->shape) {
      count *= extent;
    }
    bytes.resize((count * tile_rt::dtypeBits(num) + 7) / 8 + 128, (char)0x5A);
    data = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64);
  }
  Tensor(const Tensor &) = delete;
  Tensor(Tensor &&) = default;

  Argument argument() { return Argument::tensor(data, shape, dtype); }
  uint64_t bits(int64_t i) const {
    uint64_t value = 0;
    unsigned width = tile_rt::dtypeBits(num);
    std::memcpy(&value, data + i * width / 8, std::max(1u, width / 8));
    return width == 4 ? (value >> (i % 2 * 4)) & 15 : value;
  }
  void setBits(int64_t i, uint64_t value) {
    unsigned width = tile_rt::dtypeBits(num);
    if (width == 4) {
      value = i % 2 ? (uint8_t)(data[i / 2] & 15) | (value << 4) : (data[i / 2] & 0xF0) | value;
    }
    std::memcpy(data + i * width / 8, &value, std::max(1u, width / 8));
  }
  double operator[](int64_t i) const {
    return tile_rt::decodeFloat(DType::F64, tile_rt::convertBits(num, DType::F64, bits(i)));
  }
  void set(int64_t i, double value) {
    setBits(i, tile_rt::convertBits(DType::F64, num, tile_rt::encodeFloat(DType::F64, value)));
  }
  /// Numbers in about [-2, 2], the same in every run.
  Tensor &randomize(uint64_t seed = 1) {
    for (int64_t i = 0; i < count; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      double value = (double)(int64_t)(seed >> 33) / (double)(1u << 30) * 2 - 2;
      set(i, tile_rt::dtypeKind(num) == tile_rt::ValueKind::Float ? value : std::floor(value * 3));
    }
    return *this;
  }

  std::string dtype;
  DType num;
  std::vector<int64_t> shape;
  int64_t count;
  std::vector<char> bytes;
  char *data;
};

class CpuTest : public testing::Test {
protected:
  CpuTest() : context(registry()), stream(printed) { options.out = &stream; }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry dialects;
    dialects
        .insert<tile::TileDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                mlir::scf::SCFDialect, mlir::vector::VectorDialect, mlir::tensor::TensorDialect>();
    return dialects;
  }

  void compile(const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context), "test.mlir");
    ASSERT_TRUE(module);
    auto compiled = CpuProgram::compile(*module, options);
    ASSERT_TRUE((bool)compiled) << llvm::toString(compiled.takeError());
    program = std::move(*compiled);
  }

  /// Runs the first kernel; returns the message of its error, or nothing.
  std::string run(llvm::ArrayRef<Argument> arguments) {
    llvm::Error error = program->run(program->symbols().front(), arguments);
    return error ? llvm::toString(std::move(error)) : "";
  }

  mlir::MLIRContext context;
  std::string printed;
  llvm::raw_string_ostream stream;
  CpuOptions options;
  std::unique_ptr<CpuProgram> program;
};

/// ||got - want|| / ||want||
inline double relativeError(const Tensor &got, llvm::ArrayRef<double> want) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < got.count; ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::isnan(difference) ? INFINITY : std::sqrt(difference / (norm > 0 ? norm : 1));
}

} // namespace tilec::cpu
