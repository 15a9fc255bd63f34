#include "Compare.h"

#include "../support/Floats.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace tile_rt {

double defaultTolerance(DType type) {
  switch (type) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 1e-4;
  case DType::F16:
    return 1e-3;
  case DType::BF16:
    return 5e-3;
  case DType::E4M3: // 3 mantissa bits: rounding alone gives about 2^-4 / sqrt(3) at most
    return 4e-2;
  case DType::E5M2:
    return 8e-2;
  case DType::E2M1:
    return 3e-1;
  default:
    return 0;
  }
}

namespace {
std::string placeOf(const Array &array, int64_t i) {
  std::string text;
  for (size_t d = array.shape.size(); d-- > 0;) {
    text.insert(0, std::to_string(i % array.shape[d]) + (text.empty() ? "" : ", "));
    i /= array.shape[d];
  }
  return "[" + text + "]";
}

bool isWideInt(const Array &array) {
  return dtypeKind(array.dtype) == ValueKind::Int && dtypeBits(array.dtype) == 64;
}

/// |a - b| of elements that both are integers, exactly.
double intDistance(const Array &a, const Array &b, int64_t i) {
  __int128 difference = wrapInt(a.dtype, static_cast<__int128>(a.bits(i))) -
                        wrapInt(b.dtype, static_cast<__int128>(b.bits(i)));
  return std::fabs(static_cast<double>(difference));
}

std::string summary(const Array &out, const Array &reference, const Comparison &result,
                    double tolerance) {
  char buffer[160];
  std::snprintf(buffer, sizeof(buffer), "%s: error %.3g (tolerance %.3g)",
                result.ok ? "ok" : "WRONG", result.error, tolerance);
  std::string text = buffer;
  if (result.numNonFinite) {
    text += ", " + std::to_string(result.numNonFinite) + " of " + std::to_string(out.size()) +
            " elements NaN or infinite";
  }
  if (!result.ok && result.worstAt >= 0) {
    std::snprintf(buffer, sizeof(buffer), "; at %s: %.9g, expected %.9g",
                  placeOf(out, result.worstAt).c_str(), out.value(result.worstAt),
                  reference.value(result.worstAt));
    text += buffer;
  }
  return text;
}
} // namespace

Comparison compareArrays(const Array &out, const Array &reference, double tolerance) {
  Comparison result;
  if (out.shape != reference.shape) {
    result.error = std::numeric_limits<double>::infinity();
    result.text = "WRONG: the shape is " + describe(out) + ", expected " + describe(reference);
    return result;
  }
  double squares = 0, referenceSquares = 0;
  bool exact = isWideInt(out) && dtypeKind(reference.dtype) == ValueKind::Int;
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    double a = out.value(i), b = reference.value(i);
    if (std::isinf(a) && a == b) {
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (result.numNonFinite++ == 0) {
        result.worstAt = i;
      }
      continue;
    }
    double distance = exact ? intDistance(out, reference, i) : std::fabs(a - b);
    squares += distance * distance;
    referenceSquares += b * b;
    if (distance > result.worst) {
      result.worst = distance;
      result.worstAt = result.numNonFinite ? result.worstAt : i;
    }
  }
  double norm = std::sqrt(referenceSquares);
  result.error = result.numNonFinite ? std::numeric_limits<double>::infinity()
                 : norm > 0          ? std::sqrt(squares) / norm
                                     : std::sqrt(squares);
  result.ok = result.error <= tolerance;
  result.text = summary(out, reference, result, tolerance);
  return result;
}

std::optional<size_t> findDamage(const std::byte *bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] != kGuard) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace tile_rt
