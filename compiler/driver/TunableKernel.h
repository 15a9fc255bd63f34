// The kernel that `tilec tune` measures.
#pragma once

#include "compiler/driver/TuneFile.h"

namespace tilec {

struct TunableKernel {
  std::string symbol;
  std::string name;                       ///< in the source
  std::vector<ParameterTexts> candidates; ///< all parameters of each
  std::vector<std::string> extents;       ///< dimensions, then `scalars`
  std::vector<std::string> scalars;       ///< arguments that are integers, and that no option gives
  std::vector<std::string> otherScalars;  ///< those that are not
  Shape fixed;                            ///< dimensions that `-P` gives
  std::string sourceHash;

  /// The parameters that all candidates share, and the others of one.
  ParameterTexts sharedParams() const;
  ParameterTexts ownParams(unsigned candidate) const;
};

} // namespace tilec
