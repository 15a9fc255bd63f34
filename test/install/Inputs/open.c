#include <stdio.h>
#include <tile/tile.h>

int main(void) {
  tile_context *context = NULL;
  tile_status status = tile_context_create(0, &context);
  printf("%s %s\n", tile_status_name(status), tile_last_error());
  tile_context_destroy(context);
  return status != TILE_OK;
}
