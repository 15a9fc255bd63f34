// What somebody may have meant who wrote a name that does not exist: the same for every program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tile_rt {

/// How many letters have to be put in, left out, replaced, or exchanged with the next one, to turn `a` into `b`.
inline size_t spellingDistance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances of beginnings: the last, the one before, and the new one.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

/// The name of `names` from which `given` differs least: by a third of its letters at most, where a difference of case
/// alone always counts as near, and exchanged neighbours as one. Of several the one that goes on like `given`, or the
/// first; empty if there is none.
inline std::string_view nearestName(std::string_view given,
                                    const std::vector<std::string_view> &names) {
  // Whether words are joined by `_`, by `-` or not at all is no difference.
  auto lettersOf = [](std::string_view name) {
    std::string letters;
    for (char c : name) {
      letters += c == '_' || c == '-' ? "" : std::string(1, c);
    }
    return letters;
  };
  auto lower = [](std::string text) {
    for (char &c : text) {
      c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return text;
  };
  const std::string wanted = lettersOf(given);
  const size_t limit = std::max<size_t>((wanted.size() + 1) / 3, 1);
  std::string_view nearest;
  size_t least =
      2 * limit + 1; // doubled, so that of two the one that goes on like `given` is nearer
  for (std::string_view name : names) {
    const std::string letters = lettersOf(name);
    if (name == given || letters.empty() || wanted.empty()) {
      continue;
    }
    if (lower(letters) == lower(wanted)) {
      return name;
    }
    // Of short names the first letter is right, and something of a name is left.
    const size_t shorter = std::min(wanted.size(), letters.size());
    const size_t longer = std::max(wanted.size(), letters.size());
    if ((shorter <= 3 && letters.front() != wanted.front()) || longer > shorter + limit) {
      continue;
    }
    const size_t distance = spellingDistance(wanted, letters);
    const bool goesOn = letters.compare(0, wanted.size(), wanted) == 0;
    const size_t twice = 2 * distance - (goesOn ? 1 : 0);
    if (distance <= limit && distance < shorter && twice < least) {
      nearest = name;
      least = twice;
    }
  }
  return nearest;
}

/// "did you mean `x`?", or nothing.
inline std::string didYouMean(std::string_view given, const std::vector<std::string_view> &names) {
  const std::string_view nearest = nearestName(given, names);
  return nearest.empty() ? std::string() : "did you mean `" + std::string(nearest) + "`?";
}

} // namespace tile_rt
