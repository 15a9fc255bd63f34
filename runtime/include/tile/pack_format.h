/* The pack file: constants shared by the compiler, which writes packs, and the runtime, which reads
 * them. docs/pack.md is the specification, docs/manifest.schema.json the schema of the manifest.
 * Plain C, no dependencies. */
#ifndef TILE_PACK_FORMAT_H
#define TILE_PACK_FORMAT_H

#include <stdint.h>

/* First eight bytes of a pack, without a terminating zero. */
#define TILE_PACK_MAGIC "TILEPACK"
#define TILE_PACK_MAGIC_BYTES 8

/* Raised when an old runtime could misread a new pack; a runtime accepts exactly its own version.
 */
#define TILE_PACK_VERSION 1u

/* Version of the manifest, its member "format". Members may be added without raising it. */
#define TILE_MANIFEST_FORMAT 2

/* The body and every module in it begin at multiples of this many bytes. */
#define TILE_PACK_ALIGN 16u

/* Workspaces begin at multiples of this many bytes, and so does the memory that the caller provides
 * for them. */
#define TILE_WORKSPACE_ALIGN 256u

/* What kernels built with --check write where a check fails, in memory that host and device share.
 * The thread that changes `claimed` from 0 to 1 fills the record in and then sets `complete`. */
#define TILE_FAILURE_VALUES 8
typedef struct tile_failure_record {
  uint32_t claimed, complete;
  uint32_t place; /* the launch's number of its first place, plus the number of this one */
  uint32_t block, thread;
  uint32_t reserved[3];
  uint64_t values[TILE_FAILURE_VALUES]; /* the bits of the values that the text shows */
} tile_failure_record;

/* What kernels print, in memory that host and device share. Device code moves `reserved` over a
 * message with compare-and-swap, unless that would take it more than TILE_PRINT_RING_BYTES beyond
 * `consumed` (it may have seen an older `reserved`, less than that): then it adds 1 to `lost`, and
 * writes nothing. A message stands in the ring from byte
 * `reserved` mod TILE_PRINT_RING_BYTES on, and goes on at the ring's beginning where that ends. Its
 * first word is the head, written last: the number of its bytes in the low half, 0 until then, and
 * in the high half the launch's number of its first print, plus the number of this one. Behind it
 * come the values, each from a multiple of 8 bytes on, tiles in the order of their indices; elements
 * take their bytes, those of less than a byte one. The host sets what it has read to 0 before it
 * moves `consumed` over it. Each number is written by one side alone: between host and device
 * nothing need be atomic but loads and stores. */
#define TILE_PRINT_RING_BYTES (1u << 20)
#define TILE_PRINT_MESSAGE_BYTES (1u << 18) /* no message is longer */
typedef struct tile_print_buffer {
  uint64_t reserved, lost;
  uint64_t unused0[6];
  uint64_t consumed;
  uint64_t unused1[7];
  uint64_t ring[TILE_PRINT_RING_BYTES / 8];
} tile_print_buffer;

/* Header, little endian, 32 bytes. Then the manifest (JSON, UTF-8), zero bytes up to a multiple of
 * TILE_PACK_ALIGN, and the body: the modules at the offsets that the manifest states. The file ends
 * with the body. */
typedef struct tile_pack_header {
  char magic[TILE_PACK_MAGIC_BYTES];
  uint32_t version;
  uint32_t reserved; /* zero */
  uint64_t manifest_bytes;
  uint64_t body_bytes; /* zero is legal: a pack without code, for tools that only read manifests */
} tile_pack_header;

/* Before a pack in the read-only data of a program (`tilec --emit=obj`), little endian, at a multiple of
 * TILE_EMBEDDED_ALIGN bytes. The pack follows. */
#define TILE_EMBEDDED_MAGIC "TILEEMBD"
#define TILE_EMBEDDED_MAGIC_BYTES 8
#define TILE_EMBEDDED_VERSION 1u
#define TILE_EMBEDDED_ALIGN 64u
typedef struct tile_embedded_header {
  char magic[TILE_EMBEDDED_MAGIC_BYTES];
  uint32_t version;
  uint32_t reserved; /* zero */
  uint64_t pack_bytes;
  uint8_t digest[32]; /* SHA-256 of the pack: what a loaded pack is known by */
  uint64_t unused;    /* zero */
} tile_embedded_header;

#endif
