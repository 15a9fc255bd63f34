// What kernels print: the buffer of messages that device code writes (pack_format.h), and the texts
// that they name.
#pragma once

#include "../include/tile/pack_format.h"
#include "Driver.h"
#include "Manifest.h"
#include "PlaceNumbers.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace tile_rt {

/// What was read of a buffer.
struct Printed {
  std::string text;  ///< lines
  uint64_t lost = 0; ///< messages for which there was no room
};

/// Bytes of a message of this print, its head included; more than TILE_PRINT_MESSAGE_BYTES where
/// that is too many.
uint64_t messageBytes(const PrintText &print);

/// One string for each list of prints that differs.
std::string keyOf(const std::vector<PrintText> &prints);

/// Takes the messages that are complete out of a buffer, up to the first that is not, in their
/// order. `find` gives the text of a number, null if nobody knows it.
std::string takeMessages(tile_print_buffer &buffer,
                         const std::function<const PrintText *(uint32_t)> &find);

/// Writes it to standard output, and to standard error how many messages were lost.
void show(const Printed &printed);

/// The buffer of a context, in host memory that the device sees, and the texts of all kernels that
/// have been launched there.
class Prints {
public:
  /// The context must live until close().
  void open(const Driver &driver, cu::Context context);
  void close();

  /// Of the buffer on the device; allocated by the first call, for which the context must be
  /// current.
  uint64_t address();
  /// The number from which the numbers of `prints` count in a message.
  uint32_t add(const std::vector<PrintText> &prints);
  /// What has been printed since the last call. Never waits.
  Printed take();

private:
  const Driver *driver = nullptr;
  cu::Context context = nullptr;
  std::atomic<bool> isOpen = false; ///< there is a buffer
  std::mutex mutex;                 ///< guards all below
  tile_print_buffer *buffer = nullptr;
  uint64_t deviceAddress = 0, lost = 0;
  PlaceNumbers<PrintText> texts;
};

} // namespace tile_rt
