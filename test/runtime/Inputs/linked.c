/* Calls kernels that are linked into the program, from several threads at once. */
#include "k.h"
#include "other.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, CALLS = 50 };

static tile_context *context;
static _Alignas(256) char x[4096], y[4096];

static void fail(const char *what, tile_status status) {
  printf("%s: %s: %s\n", what, tile_status_name(status), tile_last_error());
}

static void *run(void *unused) {
  (void)unused;
  for (int i = 0; i < CALLS; ++i) {
    scale_args args = {.X = x, .Y = y, .factor = 2.5F, .N = 100 + i % 3};
    tile_status status = scale(context, &args, NULL, NULL, 0);
    other_fill_args other = {.X = y, .M = 3, .N = 4};
    status = status ? status : other_fill(context, &other, NULL, NULL, 0);
    if (status) {
      fail("thread", status);
    }
  }
  return NULL;
}

int main(void) {
  tile_status status = tile_context_create(0, &context);
  if (status) {
    fail("context", status);
    return 1;
  }
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    pthread_create(&threads[i], NULL, run, NULL);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
  }
  scale_args args = {.X = x, .Y = y, .factor = 1, .N = 64};
  char text[200];
  if (!scale_describe(context, &args, text, sizeof text, NULL)) {
    printf("%s\n", text);
  }
  size_t bytes = 99;
  if (!scale_workspace(context, &args, &bytes)) {
    printf("workspace %zu\n", bytes);
  }
  status = scale_prepare(context);
  fail("prepare", status);
  args.Y = NULL;
  fail("null", scale(context, &args, NULL, NULL, 0));
  args.Y = x;
  fail("alias", scale(context, &args, NULL, NULL, 0));
  args.N = -3;
  fail("negative", scale(context, &args, NULL, NULL, 0));
  args.N = INT64_C(1) << 40;
  fail("large", scale(context, &args, NULL, NULL, 0));
  fail("missing", scale(context, NULL, NULL, NULL, 0));
  fail("context", scale(NULL, &args, NULL, NULL, 0));
  const int64_t strides[] = {7, 2};
  fail("stride",
       other_fill(context, &(other_fill_args){.X = y, .X_strides = strides, .M = 3, .N = 4}, NULL,
                  NULL, 0));
  tile_context_destroy(context);
  return 0;
}
