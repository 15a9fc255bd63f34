/* Launches `says` with 1, 2, 3, 1: what it prints and what its checks find. usage: says PACK */
#include <stdio.h>
#include <tile/tile.h>

int main(int argc, char **argv) {
  tile_context *context;
  tile_pack *pack;
  tile_kernel *kernel;
  void *x;
  if (argc != 2 || tile_context_create(0, &context) ||
      tile_load_pack_file(context, argv[1], &pack) || tile_kernel_find(pack, "says", &kernel) ||
      tile_malloc(context, 32 * 4, &x)) {
    puts(tile_last_error());
    return 1;
  }
  int64_t extents[1] = {32};
  int32_t values[] = {1, 2, 3, 1};
  for (int i = 0; i < 4; ++i) {
    tile_arg args[] = {{x, extents, NULL, 1, TILE_I32},
                       {&values[i], NULL, NULL, TILE_SCALAR_RANK, TILE_I32}};
    tile_status status = tile_launch(kernel, args, 2, NULL, NULL, 0);
    status = status ? status : tile_synchronize(context, NULL);
    printf("%s %s\n", tile_status_name(status), status ? tile_last_error() : "");
  }
  tile_free(context, x);
  tile_pack_destroy(pack);
  tile_context_destroy(context);
  return 0;
}
