/* The runtime's functions that objects call, which print what they are given. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tile/pack_format.h>
#include <tile/tile.h>

static size_t found;

tile_status tile_embedded_kernel(tile_context *context, const void *embedded, size_t index,
                                 tile_kernel **kernel) {
  const tile_embedded_header *header = embedded;
  int whole = memcmp(header->magic, TILE_EMBEDDED_MAGIC, TILE_EMBEDDED_MAGIC_BYTES) == 0 &&
              header->version == TILE_EMBEDDED_VERSION &&
              memcmp(header + 1, TILE_PACK_MAGIC, TILE_PACK_MAGIC_BYTES) == 0 &&
              (uintptr_t)embedded % TILE_EMBEDDED_ALIGN == 0;
  if (!context || !whole) {
    printf("context %p, pack %s\n", (void *)context, whole ? "whole" : "broken");
    return TILE_ERROR_PACK;
  }
  found = index;
  *kernel = (tile_kernel *)&found;
  return TILE_OK;
}

uint64_t tile_scalar_bits(int32_t dtype, double value) {
  printf("bits of %g as %d\n", value, (int)dtype);
  return 0x12345;
}

static void print(const char *what, tile_kernel *kernel, const tile_arg *args, size_t count) {
  static const unsigned char sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  printf("%s kernel %zu: %zu arguments\n", what, *(size_t *)kernel, count);
  for (size_t i = 0; i < count; ++i) {
    printf("  type %d", (int)args[i].dtype);
    if (args[i].rank == TILE_SCALAR_RANK) {
      uint64_t bits = 0;
      memcpy(&bits, args[i].data, sizes[args[i].dtype]);
      printf(" scalar %#" PRIx64, bits);
    } else {
      printf(" at %p [", args[i].data);
      for (int32_t axis = 0; axis < args[i].rank; ++axis) {
        printf("%s%" PRId64, axis ? ", " : "", args[i].extents[axis]);
      }
      printf("]");
      for (int32_t axis = 0; axis < args[i].rank && args[i].strides; ++axis) {
        printf(" %s%" PRId64, axis ? "" : "strides ", args[i].strides[axis]);
      }
    }
    printf("\n");
  }
}

tile_status tile_launch(tile_kernel *kernel, const tile_arg *args, size_t count, void *stream,
                        void *workspace, size_t workspace_bytes) {
  print("launch", kernel, args, count);
  printf("  stream %p workspace %p, %zu bytes\n", stream, workspace, workspace_bytes);
  return count ? TILE_OK : TILE_ERROR_ARGUMENT;
}
tile_status tile_workspace_size(tile_kernel *kernel, const tile_arg *args, size_t count,
                                size_t *bytes) {
  print("workspace", kernel, args, count);
  *bytes = 77;
  return TILE_OK;
}
tile_status tile_describe(tile_kernel *kernel, const tile_arg *args, size_t count, char *text,
                          size_t size, size_t *needed) {
  print("describe", kernel, args, count);
  snprintf(text, size, "described");
  if (needed) {
    *needed = sizeof("described");
  }
  return TILE_OK;
}
tile_status tile_kernel_prepare(tile_kernel *kernel) {
  printf("prepare kernel %zu\n", *(size_t *)kernel);
  return TILE_OK;
}

const char *tile_last_error(void) { return "an error of the mock runtime"; }
const char *tile_dtype_name(int32_t dtype) {
  return dtype == TILE_F16 ? "f16" : dtype == TILE_U8 ? "u8" : "another type";
}
tile_status tile_context_create(int device, tile_context **context) {
  *context = (tile_context *)&found;
  return device == 7 ? TILE_ERROR_NO_DRIVER : TILE_OK;
}
void tile_context_destroy(tile_context *context) { (void)context; }
