#include "StandardStreams.h"

#include <fcntl.h>
#include <unistd.h>

namespace tile_rt {

void holdStandardStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) {
      // The lowest that is free is `stream`. What is printed there fails, as it does on one that is closed.
      (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

} // namespace tile_rt
