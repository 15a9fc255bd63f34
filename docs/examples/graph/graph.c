/* A CUDA graph of kernels: captured once, launched many times. The driver's functions are declared here as cuda.h has them, so that
 * building this needs no CUDA toolkit.
 *
 *   tilec ../axpy.tile --arch=sm_90a,sm_80 -o axpy.o
 *   tilec ../axpy.tile -o axpy.h
 *   cc graph.c axpy.o $(pkg-config --cflags --libs tile_rt) -lcuda -o graph
 */
#include "axpy.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(CUcontext context);
int cuStreamCreate(CUstream *stream, unsigned flags);
int cuStreamDestroy_v2(CUstream stream);
int cuStreamBeginCapture_v2(CUstream stream, int mode);
int cuStreamEndCapture(CUstream stream, CUgraph *graph);
int cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long flags);
int cuGraphLaunch(CUgraphExec executable, CUstream stream);
int cuGraphExecDestroy(CUgraphExec executable);
int cuGraphDestroy(CUgraph graph);

enum { COUNT = 5000, LAUNCHES = 10 };

static void need(tile_status status) {
  if (status != TILE_OK) {
    fprintf(stderr, "graph: %s: %s\n", tile_status_name(status), tile_last_error());
    exit(1);
  }
}

static void need_driver(int result, const char *what) {
  if (result != 0) {
    fprintf(stderr, "graph: %s: error %d of the driver\n", what, result);
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

  /* The runtime's context is the device's primary one, which CUDA's runtime API has, too. */
  CUcontext primary;
  CUstream stream;
  need_driver(cuDevicePrimaryCtxRetain(&primary, 0), "cuDevicePrimaryCtxRetain");
  need_driver(cuCtxPushCurrent_v2(primary), "cuCtxPushCurrent");
  need_driver(cuStreamCreate(&stream, 1), "cuStreamCreate"); /* CU_STREAM_NON_BLOCKING */

  need(axpy_prepare(context)); /* loads the code: a stream that is captured loads none */
  axpy_args args = {.X = device_x, .Y = device_y, .a = 2, .N = COUNT};
  CUgraph graph;
  CUgraphExec executable;
  need_driver(cuStreamBeginCapture_v2(stream, 0),
              "cuStreamBeginCapture"); /* CU_STREAM_CAPTURE_MODE_GLOBAL */
  need(axpy(context, &args, stream, NULL, 0));
  need(axpy(context, &args, stream, NULL, 0));
  need_driver(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  need_driver(cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiate");
  for (int i = 0; i < LAUNCHES; ++i) {
    need_driver(cuGraphLaunch(executable, stream), "cuGraphLaunch");
  }
  need(tile_memcpy(context, y, device_y, sizeof(y), TILE_TO_HOST, stream));

  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) {
    wrong += y[i] != 2 * 2 * LAUNCHES * (float)i + 1;
  }
  printf("%d launches of a graph of 2 kernels: %d wrong\n", LAUNCHES, wrong);
  cuGraphExecDestroy(executable);
  cuGraphDestroy(graph);
  cuStreamDestroy_v2(stream);
  need(tile_free(context, device_x));
  need(tile_free(context, device_y));
  cuDevicePrimaryCtxRelease_v2(0);
  tile_context_destroy(context);
  return wrong != 0;
}
