/* tile.h: load packs written by tilec and launch their kernels. C ABI of libtile_rt.
 *
 * The library opens the CUDA driver (libcuda.so.1) with dlopen when a context is created, so a
 * program that links it starts without a GPU. TILE_CUDA_DRIVER names another driver library (tests
 * use this); TILE_DEVICE=emu stands for the emulator of PTX, which needs no GPU.
 *
 * Every function that can fail returns a tile_status; tile_last_error() then has one line of text
 * for the calling thread. Errors of a call begin with the rule's name in brackets, as in
 * "[dim-mismatch] argument `B`: ...". Objects may be used from several threads at once; destroying
 * one must not race with its uses.
 */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TILE_API
#define TILE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tile_status {
  TILE_OK = 0,
  TILE_ERROR_ARGUMENT = 1, /* the arguments break a rule of the kernel; nothing was launched */
  TILE_ERROR_NO_VARIANT =
      2, /* no variant of a launch fits these arguments and this device; nothing was launched */
  TILE_ERROR_PACK = 3,      /* not a pack, or a malformed one */
  TILE_ERROR_NOT_FOUND = 4, /* no kernel of that symbol */
  TILE_ERROR_IO = 5,        /* a file cannot be read */
  TILE_ERROR_NO_DRIVER = 6, /* no CUDA driver, or no such device */
  TILE_ERROR_DRIVER = 7,    /* the CUDA driver refused a call */
  TILE_ERROR_MEMORY = 8,    /* out of host memory */
  TILE_ERROR_CHECK = 9      /* a kernel built with --check has found an error of the program */
} tile_status;

typedef enum tile_dtype {
  TILE_F64,
  TILE_F32,
  TILE_F16,
  TILE_BF16,
  TILE_I64,
  TILE_I32,
  TILE_I16,
  TILE_I8,
  TILE_U64,
  TILE_U32,
  TILE_U16,
  TILE_U8,
  TILE_BOOL, /* one byte, 0 or 1 */
  TILE_E4M3,
  TILE_E5M2,
  TILE_E8M0, /* one byte */
  TILE_E2M1,
  TILE_I4,
  TILE_U4 /* two to a byte along the last dimension, the even index in the low half */
} tile_dtype;

typedef enum tile_direction { TILE_IN, TILE_OUT, TILE_INOUT } tile_direction;

#define TILE_MAX_RANK 8
#define TILE_SCALAR_RANK (-1)

typedef struct tile_context tile_context; /* a device, through its primary context */
typedef struct tile_pack tile_pack;
typedef struct tile_kernel tile_kernel; /* owned by its pack */

/* One argument of a call, in the order of the kernel's parameters.
 * Tensor: `data` is device memory, or null for an absent optional one; `extents` has `rank`
 * entries, in elements; `strides` the same in elements, or is null for a contiguous tensor. Of an
 * absent tensor only `data` is read. Scalar: `data` points to the value in host memory, `rank` is
 * TILE_SCALAR_RANK. */
typedef struct tile_arg {
  void *data;
  const int64_t *extents;
  const int64_t *strides;
  int32_t rank;
  int32_t dtype; /* tile_dtype */
} tile_arg;

typedef struct tile_argument_info {
  const char *name; /* lives as long as the pack */
  int32_t rank;     /* TILE_SCALAR_RANK for a scalar */
  int32_t dtype;
  int32_t direction;
  int32_t optional;
} tile_argument_info;

/* The last error of this thread; "" if there was none. Valid until the thread's next failing call.
 */
TILE_API const char *tile_last_error(void);
TILE_API const char *tile_status_name(tile_status status);
/* Name and size in bits; null and 0 for what is no tile_dtype. */
TILE_API const char *tile_dtype_name(int32_t dtype);
TILE_API int tile_dtype_bits(int32_t dtype);

/* Opens the driver and retains the primary context of device number `device`, the one that CUDA's
 * runtime API and PyTorch use. It need not be current: calls make it so and restore what was. */
TILE_API tile_status tile_context_create(int device, tile_context **context);
TILE_API void tile_context_destroy(tile_context *context);

/* What kernels print waits in a buffer of the context, in memory that host and device share. It is
 * written to standard output, as far as it is complete, by tile_launch before anything else, by
 * tile_context_check, tile_pack_destroy and tile_context_destroy. None of them waits: to see all
 * that a launch prints, synchronise its stream first. Messages that do not fit the buffer are lost;
 * how many is said on standard error. */

/* Kernels built with --check record the first check that fails on the device, and go on. If there
 * is such a record this returns TILE_ERROR_CHECK, with file, line and values in tile_last_error(),
 * and makes room for the next one. It does not wait: to hear of a launch, synchronise its stream
 * first. tile_launch does the same before anything else, and then launches nothing. */
TILE_API tile_status tile_context_check(tile_context *context);

/* Memory of the device, for programs that have no CUDA runtime, or run on the emulator
 * (TILE_DEVICE=emu), whose memory nothing else reaches. tile_free takes null, too. Streams are those
 * of tile_launch. */
TILE_API tile_status tile_malloc(tile_context *context, size_t bytes, void **memory);
TILE_API tile_status tile_free(tile_context *context, void *memory);

typedef enum tile_copy { TILE_TO_DEVICE, TILE_TO_HOST, TILE_ON_DEVICE } tile_copy;

/* Copies behind what was enqueued on `stream`; `direction` is a tile_copy. Where one side is the host's it waits until the copy is
 * done. */
TILE_API tile_status tile_memcpy(tile_context *context, void *to, const void *from, size_t bytes,
                                 int32_t direction, void *stream);
/* Enqueues a fill. */
TILE_API tile_status tile_memset(tile_context *context, void *memory, int byte, size_t bytes,
                                 void *stream);
/* Waits for what was enqueued on `stream`, then does what tile_context_check does. */
TILE_API tile_status tile_synchronize(tile_context *context, void *stream);

/* Load a pack; the bytes are copied. With a null context the pack can be looked into, but not
 * launched. Destroy packs before their context. Device code is loaded when first used, or by
 * tile_kernel_prepare. */
TILE_API tile_status tile_load_pack_file(tile_context *context, const char *path, tile_pack **pack);
TILE_API tile_status tile_load_pack_memory(tile_context *context, const void *data, size_t bytes,
                                           tile_pack **pack);
TILE_API void tile_pack_destroy(tile_pack *pack);
/* The manifest, JSON text ending in a zero byte; lives as long as the pack. */
TILE_API const char *tile_pack_manifest(const tile_pack *pack);

TILE_API size_t tile_pack_kernel_count(const tile_pack *pack);
TILE_API tile_kernel *tile_pack_kernel(tile_pack *pack, size_t index); /* null past the end */
TILE_API tile_status tile_kernel_find(tile_pack *pack, const char *symbol, tile_kernel **kernel);
TILE_API const char *tile_kernel_symbol(const tile_kernel *kernel);
TILE_API size_t tile_kernel_argument_count(const tile_kernel *kernel);
TILE_API tile_status tile_kernel_argument(const tile_kernel *kernel, size_t index,
                                          tile_argument_info *info);

/* Loads the code of every variant that can run on the device, so that no later launch does: before
 * capturing a graph. */
TILE_API tile_status tile_kernel_prepare(tile_kernel *kernel);

/* For tests and comparisons: consider only variants whose module is for `arch` ("sm_80") and whose
 * name is `variant`; null stands for any. Not synchronised with launches of the same kernel. */
TILE_API tile_status tile_kernel_restrict(tile_kernel *kernel, const char *arch,
                                          const char *variant);

/* A kernel compiled for several values of its parameters has a configuration for each: calls take
 * the cheapest. For tests and comparisons: only the one of this number, in the order of the
 * manifest; -1 stands for any. Not synchronised with launches of the same kernel. */
TILE_API size_t tile_kernel_configuration_count(const tile_kernel *kernel);
TILE_API tile_status tile_kernel_restrict_configuration(tile_kernel *kernel, int32_t configuration);

/* Bytes of workspace that this call needs. Pointers are checked for alignment and aliasing, not
 * dereferenced. */
TILE_API tile_status tile_workspace_size(tile_kernel *kernel, const tile_arg *args, size_t count,
                                         size_t *bytes);

/* Checks the arguments, chooses the variants and enqueues the launches on `stream` (a CUstream or
 * cudaStream_t, null for the default one); does not wait. `workspace` is device memory, aligned to
 * 256 bytes, of at least the size above, apart from all tensors of the call; it may be null if the
 * size is 0, and is in use until the launches have finished. */
TILE_API tile_status tile_launch(tile_kernel *kernel, const tile_arg *args, size_t count,
                                 void *stream, void *workspace, size_t workspace_bytes);

/* What tile_launch would do: the configuration, if there are several, and one line per launch:
 * variant, entry, architecture, blocks, threads, shared memory. Writes at most `size` bytes with the final zero; null and 0 are fine; `*needed`
 * (may be null) gets the full length with it. */
TILE_API tile_status tile_describe(tile_kernel *kernel, const tile_arg *args, size_t count,
                                   char *text, size_t size, size_t *needed);

/* In headers of `tilec --emit=header`: a function is called by a symbol that says what its arguments
 * are, so that a program which was compiled with the header of another object does not link. The plain
 * name is a symbol of the object too, for callers without the header. */
#define TILE_SYMBOL(name) __asm__(name)

/* What the functions in an object of `tilec --emit=obj` call; programs call those. Finds kernel number
 * `index` of a pack that lies in the program's own read-only memory, behind a tile_embedded_header
 * (pack_format.h). A context loads such a pack once, when it is first asked for one of its kernels, from
 * whichever thread, and keeps it until it is destroyed itself; the same pack in two objects is one. */
TILE_API tile_status tile_embedded_kernel(tile_context *context, const void *embedded, size_t index,
                                          tile_kernel **kernel);

/* The bits of `value`, rounded to nearest even, in a floating-point type, such as f16 and bf16, which C
 * lacks. 0 for other types. */
TILE_API uint64_t tile_scalar_bits(int32_t dtype, double value);

#ifdef __cplusplus
}
#endif
#endif
