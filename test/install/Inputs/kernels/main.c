#include "lib_scale.h" /* of the library that is linked */

#include <stdio.h>

tile_status scale_both(tile_context *context, float *x, double *y, int64_t count);

int main(void) {
  float x[3] = {1, 2, 3};
  double y[3] = {10, 20, 30};
  tile_context *context;
  void *device_x, *device_y;
  char text[200];
  if (tile_context_create(0, &context) || tile_malloc(context, sizeof(x), &device_x) ||
      tile_malloc(context, sizeof(y), &device_y) ||
      tile_memcpy(context, device_x, x, sizeof(x), TILE_TO_DEVICE, NULL) ||
      tile_memcpy(context, device_y, y, sizeof(y), TILE_TO_DEVICE, NULL) ||
      scale_both(context, device_x, device_y, 3) ||
      tile_memcpy(context, x, device_x, sizeof(x), TILE_TO_HOST, NULL) ||
      tile_memcpy(context, y, device_y, sizeof(y), TILE_TO_HOST, NULL)) {
    printf("error: %s\n", tile_last_error());
    return 1;
  }
  printf("%g %g %g, %g %g %g\n", x[0], x[1], x[2], y[0], y[1], y[2]);
  lib_scale_args args = {.X = device_x, .N = 1000};
  if (lib_scale_describe(context, &args, text, sizeof(text), NULL) == TILE_OK) {
    printf("%s", text);
  }
  tile_context_destroy(context);
  return 0;
}
