// One scalar instruction on many inputs, for comparison with a formula.
#pragma once

#include "TestKernel.h"

#include <functional>
#include <random>

namespace tile_emu {

using Values = std::vector<uint64_t>;

/// A source: its bits in a register, and the values of all threads.
struct Input {
  unsigned bits; ///< 1 (predicate), 16, 32 or 64
  Values values;
};

/// Register `index` of a width in TestKernel's kernels.
inline std::string registerName(unsigned bits, unsigned index) {
  const char *name = bits == 1 ? "%p" : bits == 16 ? "%h" : bits == 32 ? "%r" : "%rd";
  return name + std::to_string(50 + index);
}

/// Runs `code`, where $a, $b, ... are the inputs and $d is the destination, once per value.
/// Expects that nothing is reported.
inline Values evaluate(std::string code, unsigned resultBits, const std::vector<Input> &inputs,
                       bool expectClean = true) {
  size_t count = inputs.front().values.size(), padded = (count + 31) / 32 * 32;
  std::string body = "mov.u32 %r90, %ctaid.x; mad.lo.u32 %r90, %r90, 32, %tid.x;\n"
                     "mul.wide.u32 %rd90, %r90, 8; add.u64 %rd91, %buf0, %rd90;\n";
  TestKernel kernel("");
  kernel.output("out", padded * 8);
  auto replace = [&](char name, const std::string &with) {
    for (size_t at; (at = code.find(std::string("$") + name)) != std::string::npos;) {
      code.replace(at, 2, with);
    }
  };
  replace('d', registerName(resultBits, 9));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Values values = inputs[i].values;
    values.resize(padded, values.back());
    kernel.input("in" + std::to_string(i), values);
    unsigned bits = inputs[i].bits, n = unsigned(i);
    std::string wide = registerName(64, n), to = registerName(bits, n);
    body += "add.u64 " + wide + ", %buf" + std::to_string(i + 1) + ", %rd90; ld.global.b64 " +
            wide + ", [" + wide + "];\n";
    std::string width = std::to_string(bits);
    body += bits == 1    ? "setp.ne.u64 " + to + ", " + wide + ", 0;\n"
            : bits == 64 ? ""
                         : "cvt.u" + width + ".u64 " + to + ", " + wide + ";\n";
    replace(char('a' + (i < 3 ? i : i + 1)), to);
  }
  body += code + "\n";
  std::string result = registerName(resultBits, 9);
  body += resultBits == 1 ? "selp.b64 %rd92, 1, 0, " + result + ";\n"
          : resultBits == 64
              ? "mov.b64 %rd92, " + result + ";\n"
              : "cvt.u64.u" + std::to_string(resultBits) + " %rd92, " + result + ";\n";
  kernel.body = body + "st.global.b64 [%rd91], %rd92;\n";
  kernel.grid = {uint32_t(padded / 32), 1, 1};
  EXPECT_TRUE(kernel.run()) << code;
  if (expectClean) {
    EXPECT_EQ(kernel.describe(), "") << code;
  }
  Values values = kernel.read<uint64_t>("out");
  values.resize(count);
  return values;
}

/// The message of the fault with which decoding `code` ends; "" if it does not.
inline std::string refusal(const std::string &code) {
  TestKernel kernel(code);
  try {
    kernel.run();
    return kernel.reports().empty() ? "" : kernel.reports().front().message;
  } catch (const Fault &fault) {
    return fault.report.message;
  }
}

/// Integers of a width: the edges of all ranges, small and large ones, and random ones.
inline Values integers(unsigned bits, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, top = mask ^ (mask >> 1);
  Values edges = {0, 1, 2, mask, mask - 1, top, top - 1, top + 1, 0x80, 0x7f, 0x8000, 0x7fff};
  Values values;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = random();
    switch (random() % 4) {
    case 0:
      value = edges[value % edges.size()];
      break;
    case 1:
      value = (value & mask) >> random() % bits;
      break;
    case 2:
      value = ~((value & mask) >> random() % bits);
      break;
    default:
      break;
    }
    values.push_back(value & mask);
  }
  return values;
}

/// Bits of floats with `exponent` and `mantissa` bits: zeros, subnormals, infinities, NaN, the
/// edges of the range, values that cancel, and random ones.
inline Values floats(unsigned exponent, unsigned mantissa, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  uint64_t infinity = ((uint64_t(1) << exponent) - 1) << mantissa, sign = uint64_t(1)
                                                                          << (exponent + mantissa);
  uint64_t one = (infinity >> 1) & ~((uint64_t(1) << mantissa) - 1), unit = uint64_t(1) << mantissa;
  Values edges = {0,
                  1,
                  unit - 1,
                  unit,
                  unit + 1,
                  infinity - 1,
                  infinity,
                  infinity | unit / 2,
                  infinity + 1,
                  one,
                  one + 1,
                  one - 1,
                  one + unit,
                  one - unit};
  Values values;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = random() & (sign * 2 - 1);
    switch (random() % 4) {
    case 0:
      value = edges[random() % edges.size()] | (value & sign);
      break;
    case 1: // near 1, few bits
      value = (value & sign) | ((one + (random() % 9 - 4) * unit) & infinity) |
              (value & (unit - 1) & ~((uint64_t(1) << random() % mantissa) - 1));
      break;
    default:
      break;
    }
    values.push_back(value);
  }
  return values;
}

/// Compares the instruction's results with a formula on the inputs' bits.
inline void expectEach(const std::string &code, unsigned resultBits,
                       const std::vector<Input> &inputs,
                       const std::function<uint64_t(const uint64_t *)> &formula) {
  Values results = evaluate(code, resultBits, inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    std::vector<uint64_t> sources;
    std::string shown;
    for (const Input &input : inputs) {
      sources.push_back(input.values[i]);
      char text[24];
      std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(sources.back()));
      shown += text;
    }
    uint64_t expected = formula(sources.data());
    ASSERT_EQ(results[i], expected)
        << code << std::hex << " of" << shown << " gives " << results[i] << ", not " << expected;
  }
}

} // namespace tile_emu
