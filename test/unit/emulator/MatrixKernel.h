// Small kernels around one matrix instruction: registers from and to global memory, operands in
// shared memory from an image.
#pragma once

#include "runtime/emulator/Emulator.h"
#include "runtime/support/Floats.h"

#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace matrix_test {

using Bytes = std::vector<uint8_t>;

/// `text` with its `{}` and `{:x}` replaced by the values; `{{` and `}}` are braces.
template <typename... Values>
std::string format(const std::string &text, const Values &...values) {
  std::vector<std::string> decimal, hexadecimal;
  auto add = [&](const auto &value) {
    std::ostringstream plain, hex;
    plain << value;
    hex << std::hex << value;
    decimal.push_back(plain.str());
    hexadecimal.push_back(hex.str());
  };
  (add(values), ...);
  std::string result;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{}") == 0) {
      result += decimal.at(next++);
      ++i;
    } else if (text.compare(i, 4, "{:x}") == 0) {
      result += hexadecimal.at(next++);
      i += 3;
    } else {
      result += text[i];
      i += text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "}}") == 0;
    }
  }
  return result;
}

/// A kernel `k` with one pointer per buffer in %rd0, %rd1, ...; %rN (t = %r0: thread), %fd, %p.
struct Kernel {
  unsigned threads = 32;
  uint64_t sharedBytes = 0;
  std::vector<Bytes> buffers;
  std::string body;
  std::vector<tile_emu::Report> reports;
  bool finished = false;

  void line(const std::string &text) { body += text + "\n"; }

  /// Loads words t * count ... of a buffer into registers: their list in braces.
  std::string loadRegisters(unsigned buffer, unsigned count, unsigned first, bool wide = false) {
    addressOf(buffer, count * (wide ? 8 : 4));
    for (unsigned i = 0; i < count; ++i) {
      line(wide ? format("ld.global.b64 %fd{}, [%rd90+{}];", first + i, 8 * i)
                : format("ld.global.b32 %r{}, [%rd90+{}];", first + i, 4 * i));
    }
    return list(count, first, wide);
  }
  void storeRegisters(unsigned buffer, unsigned count, unsigned first, bool wide = false) {
    addressOf(buffer, count * (wide ? 8 : 4));
    for (unsigned i = 0; i < count; ++i) {
      line(wide ? format("st.global.b64 [%rd90+{}], %fd{};", 8 * i, first + i)
                : format("st.global.b32 [%rd90+{}], %r{};", 4 * i, first + i));
    }
  }
  static std::string list(unsigned count, unsigned first, bool wide = false) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      text += format("{}%{}{}", i ? ", " : "", wide ? "fd" : "r", first + i);
    }
    return "{" + text + "}";
  }
  /// The whole buffer (a multiple of 16 bytes) to the start of dynamic shared memory.
  void copyToShared(unsigned buffer) {
    line(format("mov.u32 %r1, {};", buffers[buffer].size()));
    line("mul.lo.u32 %r2, %r0, 16;");
    line("setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra COPIED;\nCOPY:");
    line(format("cvt.u64.u32 %rd91, %r2;\nadd.u64 %rd92, %rd{}, %rd91;", buffer));
    line("mov.u32 %r3, smem;\nadd.u32 %r3, %r3, %r2;");
    line("ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd92];");
    line("st.shared.v4.b32 [%r3], {%r4, %r5, %r6, %r7};");
    line(format("add.u32 %r2, %r2, {};", 16 * threads));
    line("setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra COPY;\nCOPIED:");
    line("fence.proxy.async.shared::cta;\nbar.sync 0;");
  }

  std::string text() const {
    std::string params, loads;
    for (unsigned i = 0; i < buffers.size(); ++i) {
      params += format("{}.param .u64 p{}", i ? ", " : "", i);
      loads += format("ld.param.u64 %rd{}, [p{}];\n", i, i);
    }
    return ".version 9.0\n.target sm_90a\n.address_size 64\n"
           ".extern .shared .align 1024 .b8 smem[];\n.visible .entry k(" +
           params +
           ")\n{\n.reg .b32 %r<600>;\n.reg .b64 %rd<100>;\n.reg .b64 %fd<100>;\n"
           ".reg .pred %p<8>;\n" +
           loads + "mov.u32 %r0, %tid.x;\n" + body + "ret;\n}\n";
  }
  void run(tile_emu::Options options = {}) {
    tile_emu::Emulator emulator(options);
    auto module = emulator.load(text());
    tile_emu::Emulator::Launch launch;
    launch.entry = "k";
    launch.block = {threads, 1, 1};
    launch.dynamicSharedBytes = sharedBytes;
    std::vector<uint64_t> addresses;
    for (const Bytes &buffer : buffers) {
      addresses.push_back(emulator.allocate(buffer.size(), "buffer"));
      emulator.write(addresses.back(), buffer.data(), buffer.size());
      Bytes param(8);
      std::memcpy(param.data(), &addresses.back(), 8);
      launch.params.push_back(param);
    }
    finished = emulator.launch(*module, launch);
    for (unsigned i = 0; i < buffers.size(); ++i) {
      emulator.read(addresses[i], buffers[i].data(), buffers[i].size());
    }
    reports = emulator.reports();
    described = emulator.describe();
  }
  std::string described;

private:
  void addressOf(unsigned buffer, unsigned bytesPerThread) {
    line(format("mul.wide.u32 %rd90, %r0, {};\nadd.u64 %rd90, %rd{}, %rd90;", bytesPerThread,
                buffer));
  }
};

inline bool has(const Kernel &kernel, tile_emu::Report::Kind kind, const std::string &part) {
  for (const tile_emu::Report &report : kernel.reports) {
    if (report.kind == kind && report.message.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

/// A type of elements: its name in PTX, its width, and values from bits and back.
struct Type {
  std::string name;
  unsigned bits;
  bool isFloat;
  double value(uint64_t raw) const {
    using tile_rt::DType;
    raw &= bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    if (name == "f16") {
      return tile_rt::decodeFloat(DType::F16, raw);
    }
    if (name == "bf16") {
      return tile_rt::decodeFloat(DType::BF16, raw);
    }
    if (name == "e4m3" || name == "e5m2") {
      return tile_rt::decodeFloat(name == "e4m3" ? DType::E4M3 : DType::E5M2, raw);
    }
    if (name == "tf32") {
      return tile_rt::decodeFloat(DType::F32, raw & ~uint64_t(0x1fff));
    }
    if (name == "f32" || name == "f64") {
      return tile_rt::decodeFloat(bits == 32 ? DType::F32 : DType::F64, raw);
    }
    bool isSigned = name[0] == 's';
    return isSigned && raw >> (bits - 1) ? double(raw) - double(uint64_t(1) << bits) : double(raw);
  }
  /// Bits of a random value of moderate size.
  uint64_t random(std::mt19937 &random) const {
    using tile_rt::DType;
    double value = double(int(random() % 4001) - 2000) / 1000;
    if (!isFloat) {
      return random() & (bits == 32 ? 0xfffff : (uint64_t(1) << bits) - 1);
    }
    if (name == "tf32") { // with bits that are ignored
      return tile_rt::encodeFloat(DType::F32, value) | (random() & 0x1fff);
    }
    DType type = name == "f16"    ? DType::F16
                 : name == "bf16" ? DType::BF16
                 : name == "e4m3" ? DType::E4M3
                 : name == "e5m2" ? DType::E5M2
                 : name == "f32"  ? DType::F32
                                  : DType::F64;
    return tile_rt::encodeFloat(type, value);
  }
};

inline Type typeOf(const std::string &name) {
  if (name == "f64") {
    return {name, 64, true};
  }
  if (name == "f32" || name == "tf32" || name == "s32") {
    return {name, 32, name != "s32"};
  }
  if (name == "f16" || name == "bf16") {
    return {name, 16, true};
  }
  if (name == "s4" || name == "u4" || name == "b1") {
    return {name, name == "b1" ? 1u : 4u, false};
  }
  return {name, 8, name[0] == 'e'};
}

/// A matrix of raw element bits.
struct Matrix {
  Type type;
  unsigned rows, columns;
  std::vector<uint64_t> bits;
  Matrix(const std::string &type, unsigned rows, unsigned columns)
      : type(typeOf(type)), rows(rows), columns(columns), bits(size_t(rows) * columns) {}
  static Matrix random(const std::string &type, unsigned rows, unsigned columns,
                       std::mt19937 &random) {
    Matrix matrix(type, rows, columns);
    for (uint64_t &bits : matrix.bits) {
      bits = matrix.type.random(random);
    }
    return matrix;
  }
  uint64_t &at(unsigned row, unsigned column) { return bits[size_t(row) * columns + column]; }
  uint64_t at(unsigned row, unsigned column) const { return bits[size_t(row) * columns + column]; }
  double value(unsigned row, unsigned column) const { return type.value(at(row, column)); }
};

/// Writes bits at a bit offset.
inline void put(Bytes &bytes, size_t bit, unsigned width, uint64_t value) {
  for (unsigned i = 0; i < width; ++i, ++bit) {
    bytes[bit / 8] = uint8_t((bytes[bit / 8] & ~(1u << bit % 8)) | (value >> i & 1) << bit % 8);
  }
}
inline uint64_t get(const Bytes &bytes, size_t bit, unsigned width) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; ++i, ++bit) {
    value |= uint64_t(bytes[bit / 8] >> bit % 8 & 1) << i;
  }
  return value;
}

} // namespace matrix_test
