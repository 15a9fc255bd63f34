#include "k.h"

#include <stdio.h>

static void *at(size_t address) { return (void *)address; }

int main(void) {
  tile_context *context = at(1);
  scalars_args s = {.X = at(16),
                    .N = 5,
                    .a = -0.5,
                    .b = 2,
                    .c = 0.25F,
                    .d = 3,
                    .e = -2,
                    .f = -3,
                    .g = -4,
                    .h = -5,
                    .i = 1ULL << 63,
                    .j = 1U << 31,
                    .k = 65535,
                    .l = 255,
                    .m = true};
  printf("status %d\n", scalars(context, &s, at(0x10), at(0x20), 30));
  storage_args t = {
      .a = at(0xa0), .h = at(0xb0), .q = at(0xc0), .s = at(0xd0), .t = at(0xe0), .N = 9};
  size_t bytes = 0;
  printf("status %d", storage_workspace(context, &t, &bytes));
  printf(" bytes %zu\n", bytes);
  const int64_t strides[] = {1000000, 100000, 10000, 1000, 100, 10, 2, 1}, two[] = {0, 1};
  ranks_args r = {.A = at(0xa0),
                  .D = at(0xb0),
                  .D_strides = strides,
                  .E_strides = two,
                  .F = at(0xc0),
                  .G = at(0xd0),
                  .H = at(0xe0),
                  .B = 6,
                  .C2 = 11};
  char text[20];
  size_t needed;
  printf("status %d", ranks_describe(context, &r, text, sizeof text, &needed));
  printf(" %s %zu\n", text, needed);
  /* Divisions of the least integer do not trap. */
  r.B = INT64_MIN;
  r.C2 = INT64_MIN;
  ranks(context, &r, 0, 0, 0);
  by_scalar_args b = {.n = 100, .k = 200, .s = 1.5F, .X_extent_0 = 3};
  by_scalar(context, &b, 0, 0, 0);
  printf("status %d\n", fixed(context, &(fixed_args){.A = at(0xf0)}, 0, 0, 0));
  printf("status %d\n", fixed(context, NULL, 0, 0, 0));
  printf("status %d\n", fixed(NULL, NULL, 0, 0, 0));
  printf("status %d\n", fixed_prepare(context));
  tile_kernel *kernel = NULL;
  printf("status %d", ranks_kernel(context, &kernel));
  printf(" kernel %zu\n", *(size_t *)kernel);
  by_bits_args c = {
      .flag = true, .w = 4000000000U, .i = 13, .wide = 0xffffffff00000005, .F_extent_0 = 4};
  printf("status %d\n", by_bits(context, &c, 0, 0, 0));
  return 0;
}
