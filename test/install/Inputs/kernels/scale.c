#include "scale.h"

#include "lib_scale.h"

tile_status scale_both(tile_context *context, float *x, double *y, int64_t count) {
  lib_scale_args single = {.X = x, .N = count};
  scale_f64_args both = {.X = y, .N = count};
  tile_status status = lib_scale(context, &single, NULL, NULL, 0);
  return status ? status : scale_f64(context, &both, NULL, NULL, 0);
}
