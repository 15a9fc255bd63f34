#include "compiler/basic/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilec {

/// A stream that is destroyed with an error nobody asked for ends the program.
static std::error_code finish(raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error;
}

std::error_code flushStandardOutput() { return finish(outs()); }

std::error_code writeThrough(StringRef path, StringRef bytes) {
  std::error_code error;
  raw_fd_ostream os(path, error, sys::fs::CD_CreateAlways, sys::fs::FA_Write, sys::fs::OF_None);
  if (!error) {
    os << bytes;
    os.close();
    error = finish(os);
  }
  return error;
}

// LLVM's writeToOutput gives the file its name before it knows whether the last bytes are on the disk.
std::error_code replaceFile(StringRef path, StringRef bytes) {
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(path + ".tmp%%%%%%%%");
  if (!file) {
    return errorToErrorCode(file.takeError());
  }
  std::error_code error;
  {
    raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    os << bytes;
    error = finish(os);
  }
  if (error) {
    consumeError(file->discard());
    return error;
  }
  return errorToErrorCode(file->keep(path));
}

std::error_code writeOutput(StringRef path, StringRef bytes) {
  using sys::fs::file_type;
  const file_type link = sys::fs::get_file_type(path, /*Follow=*/false);
  const file_type target = sys::fs::get_file_type(path); // status_error where nothing is
  SmallString<128> place = path;
  if (link == file_type::symlink_file && sys::fs::real_path(path, place)) {
    return writeThrough(path, bytes); // leads nowhere yet
  }
  if (target != file_type::status_error && target != file_type::regular_file) {
    return writeThrough(path, bytes);
  }
  return replaceFile(place, bytes);
}

std::error_code checkWritable(StringRef path) {
  if (path.empty() || path == "-") {
    return {};
  }
  sys::fs::file_status status;
  const bool isThere = !sys::fs::status(path, status);
  if (isThere && !sys::fs::is_regular_file(status)) { // written through
    return sys::fs::access(path, sys::fs::AccessMode::Write);
  }
  const StringRef parent = sys::path::parent_path(path);
  return sys::fs::access(parent.empty() ? StringRef(".") : parent, sys::fs::AccessMode::Write);
}

} // namespace tilec
