/* A kernel in a C program: its object is linked in, its header has the call.
 *
 *   tilec ../axpy.tile --arch=sm_90a,sm_80 -o axpy.o
 *   tilec ../axpy.tile -o axpy.h
 *   cc axpy.c axpy.o $(pkg-config --cflags --libs tile_rt) -o axpy
 */
#include "axpy.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 5000 };

/* Ends the program unless all is well. */
static void need(tile_status status) {
  if (status != TILE_OK) {
    fprintf(stderr, "axpy: %s: %s\n", tile_status_name(status), tile_last_error());
    exit(1);
  }
}

int main(void) {
  static float x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    x[i] = (float)i;
    y[i] = 1;
  }
  tile_context *context;
  void *device_x, *device_y;
  need(tile_context_create(0, &context));
  need(tile_malloc(context, sizeof(x), &device_x));
  need(tile_malloc(context, sizeof(y), &device_y));
  need(tile_memcpy(context, device_x, x, sizeof(x), TILE_TO_DEVICE, NULL));
  need(tile_memcpy(context, device_y, y, sizeof(y), TILE_TO_DEVICE, NULL));

  axpy_args args = {.X = device_x, .Y = device_y, .a = 2, .N = COUNT};
  need(axpy(context, &args, NULL, NULL, 0)); /* enqueued on the default stream */
  need(tile_memcpy(context, y, device_y, sizeof(y), TILE_TO_HOST, NULL));

  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) {
    wrong += y[i] != 2 * (float)i + 1;
  }
  printf("axpy of %d elements: %d wrong\n", COUNT, wrong);
  need(tile_free(context, device_x));
  need(tile_free(context, device_y));
  tile_context_destroy(context);
  return wrong != 0;
}
