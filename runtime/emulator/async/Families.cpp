#include "../exec/Families.h"

#include "Async.h"

namespace tile_emu {

Execute decodeCopy(Decoder &d) {
  if (d.take("reduce")) {
    d.expect("async");
    d.expect("bulk");
    return decodeBulkReduce(d);
  }
  d.expect("async");
  return d.take("bulk") ? decodeBulk(d) : decodeCpAsync(d);
}

std::span<const Family> asyncFamilies() {
  static constexpr Family families[] = {
      {"bar", decodeBarrier},
      {"barrier", decodeBarrier},
      {"mbarrier", decodeMBarrier},
      {"fence", decodeFence},
      {"membar", decodeMembar},
      {"cp", decodeCopy},
      {"setmaxnreg", decodeSetMaxRegisters},
      {"griddepcontrol", decodeGridControl},
  };
  return families;
}

} // namespace tile_emu
