#include "compiler/driver/Devices.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace tilec {

std::vector<DeviceInfo> listDevices(const std::string &programDir, std::string &problem) {
  const std::string program = programDir + "/tile-run";
  SmallString<128> log;
  int status = -1;
  if (!sys::fs::createTemporaryFile("tilec-devices", "txt", log)) {
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
    status = sys::ExecuteAndWait(program, {program, "--devices"}, std::nullopt, redirects);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> said = MemoryBuffer::getFile(log);
  const std::string text = said ? (*said)->getBuffer().rtrim().str() : "";
  (void)sys::fs::remove(log);
  if (status != 0) {
    problem = text.empty() ? "`" + program + "` does not run" : text;
    return {};
  }
  std::vector<DeviceInfo> devices;
  for (StringRef line : split(text, '\n')) {
    Expected<json::Value> value = json::parse(line);
    const json::Object *object = value ? value->getAsObject() : nullptr;
    if (!object) {
      consumeError(value.takeError());
      continue;
    }
    devices.push_back({object->getString("name").value_or("").str(),
                       object->getString("arch").value_or("").str()});
  }
  if (devices.empty()) {
    problem = "`" + program + " --devices` lists none";
  }
  return devices;
}

} // namespace tilec
