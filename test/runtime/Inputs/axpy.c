/* axpy on the first device, or on two: usage: axpy PACK [WHAT]. The same program with and without a GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tile/tile.h>

#define N 1000

static void need(tile_status status, const char *what) {
  if (status != TILE_OK) {
    printf("%s: %s: %s\n", what, tile_status_name(status), tile_last_error());
    exit(1);
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[2] : "";
  const int device = strcmp(what, "second") == 0;
  tile_context *context;
  tile_pack *pack;
  tile_kernel *kernel;
  need(tile_context_create(device, &context), "context");
  need(tile_load_pack_file(context, argv[1], &pack), "pack");
  need(tile_kernel_find(pack, "axpy", &kernel), "kernel");

  float x[N], y[N], a = 2;
  for (int i = 0; i < N; ++i) {
    x[i] = (float)i;
    y[i] = 1;
  }
  void *memory_x, *memory_y;
  need(tile_malloc(context, sizeof(x), &memory_x), "malloc");
  need(tile_malloc(context, sizeof(y), &memory_y), "malloc");
  if (strcmp(what, "unwritten") != 0) {
    need(tile_memcpy(context, memory_x, x, sizeof(x), TILE_TO_DEVICE, NULL), "memcpy");
  }
  need(tile_memcpy(context, memory_y, y, sizeof(y), TILE_TO_DEVICE, NULL), "memcpy");
  if (strcmp(what, "beyond") == 0) {
    need(tile_memcpy(context, (char *)memory_y + 8, y, sizeof(y), TILE_TO_DEVICE, NULL), "beyond");
  }
  int64_t extents[1] = {strcmp(what, "longer") == 0 ? N + 10 : N};
  tile_arg args[] = {{memory_x, extents, NULL, 1, TILE_F32},
                     {memory_y, extents, NULL, 1, TILE_F32},
                     {&a, NULL, NULL, TILE_SCALAR_RANK, TILE_F32}};
  size_t needed = 0;
  char text[256];
  need(tile_describe(kernel, args, 3, text, sizeof(text), &needed), "describe");
  printf("%s", text);
  need(tile_launch(kernel, args, 3, NULL, NULL, 0), "launch");
  tile_status status = tile_synchronize(context, NULL);
  if (status != TILE_OK) {
    printf("synchronize: %s: %s\n", tile_status_name(status), tile_last_error());
    status = tile_launch(kernel, args, 3, NULL, NULL, 0);
    printf("next launch: %s: %s\n", tile_status_name(status), tile_last_error());
  } else {
    need(tile_memcpy(context, y, memory_y, sizeof(y), TILE_TO_HOST, NULL), "memcpy");
    int wrong = 0;
    for (int i = 0; i < N; ++i) {
      wrong += y[i] != 2 * (float)i + 1;
    }
    printf("%d wrong\n", wrong);
  }
  need(tile_free(context, memory_x), "free");
  need(tile_free(context, memory_y), "free");
  tile_pack_destroy(pack);
  tile_context_destroy(context);
  return 0;
}
