#include "compiler/inspect/HostFile.h"

#include "compiler/inspect/ElfFile.h"
#include "runtime/include/tile/pack_format.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

#include <cstring>

using namespace llvm;

namespace tilec {

static constexpr StringLiteral kArchive = "!<arch>\n", kThinArchive = "!<thin>\n";

bool isHostFile(StringRef bytes) {
  return isElf(bytes) || bytes.starts_with(kArchive) || bytes.starts_with(kThinArchive);
}

static std::string machineName(unsigned machine) {
  switch (machine) {
  case ELF::EM_X86_64:
    return "x86-64";
  case ELF::EM_AARCH64:
    return "AArch64";
  default:
    return "machine " + std::to_string(machine);
  }
}

/// Code of the runtime has these letters, too: a header also has a version and zeros.
static bool beginsHeader(StringRef bytes) {
  tile_embedded_header header;
  if (bytes.size() < TILE_EMBEDDED_MAGIC_BYTES || !bytes.starts_with(TILE_EMBEDDED_MAGIC)) {
    return false;
  }
  std::memset(&header, 0, sizeof(header));
  std::memcpy(&header, bytes.data(), std::min(sizeof(header), bytes.size()));
  return header.version >= 1 && header.version < 256 && header.reserved == 0;
}

/// The pack at the front of `bytes`, which begins with its header.
static EmbeddedPack readEmbedded(StringRef bytes) {
  EmbeddedPack pack;
  tile_embedded_header header;
  if (bytes.size() < sizeof(header)) {
    pack.problem = "it ends within the header of a pack";
    return pack;
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  StringRef rest = bytes.drop_front(sizeof(header));
  if (header.version != TILE_EMBEDDED_VERSION) {
    pack.problem = "version " + std::to_string(header.version) +
                   " of the header is not known, only version " +
                   std::to_string(TILE_EMBEDDED_VERSION);
    return pack;
  }
  if (header.pack_bytes > rest.size()) {
    pack.problem = "of its " + std::to_string(header.pack_bytes) + " bytes there are " +
                   std::to_string(rest.size());
    return pack;
  }
  rest = rest.take_front(header.pack_bytes);
  const std::array<uint8_t, 32> digest = SHA256::hash(arrayRefFromStringRef(rest));
  static_assert(sizeof(header.digest) == sizeof(digest));
  if (std::memcmp(digest.data(), header.digest, digest.size()) != 0) {
    pack.problem = "its bytes are not those of which the header has the digest";
    return pack;
  }
  pack.bytes = rest;
  return pack;
}

/// Looks through what lies at `address` in memory, or in a section.
static void findPacks(StringRef bytes, uint64_t address, uint64_t offset, HostFile &file) {
  for (uint64_t place = alignTo(address, TILE_EMBEDDED_ALIGN) - address; place < bytes.size();) {
    if (!beginsHeader(bytes.drop_front(place))) {
      place += TILE_EMBEDDED_ALIGN;
      continue;
    }
    EmbeddedPack pack = readEmbedded(bytes.drop_front(place));
    pack.offset = offset + place;
    place += alignTo(sizeof(tile_embedded_header) + pack.bytes.size(), TILE_EMBEDDED_ALIGN);
    file.packs.push_back(std::move(pack));
  }
}

static Error readElf(StringRef bytes, HostFile &file) {
  if (!isElf64(bytes)) {
    return unreadable("only ELF files of 64 bits, little endian, hold packs");
  }
  Expected<Elf> elf = openElf(bytes);
  if (!elf) {
    return elf.takeError();
  }
  const auto &header = elf->getHeader();
  file.machine = machineName(header.e_machine);
  file.kind = header.e_type == ELF::ET_REL ? "object" : "shared library";
  auto segments = elf->program_headers();
  auto sections = elf->sections();
  if (!segments || !sections) {
    return joinErrors(segments.takeError(), sections.takeError());
  }
  bool isLoaded = false; // what the linker has made may be without sections
  for (const auto &segment : *segments) {
    if (segment.p_type == ELF::PT_INTERP) {
      file.kind = "program";
    }
    if (segment.p_type == ELF::PT_LOAD) {
      isLoaded = true;
      findPacks(bytes.substr(segment.p_offset, segment.p_filesz), segment.p_vaddr, segment.p_offset,
                file);
    }
  }
  if (header.e_type == ELF::ET_EXEC) {
    file.kind = "program";
  }
  for (const auto &section : *sections) {
    if (!isLoaded && section.sh_type == ELF::SHT_PROGBITS) {
      findPacks(bytes.substr(section.sh_offset, section.sh_size), section.sh_addr,
                section.sh_offset, file);
    }
  }
  return Error::success();
}

static Error readMember(StringRef name, StringRef bytes, HostFile &file) {
  HostFile inside;
  if (Error error = readElf(bytes, inside)) {
    return unreadable("%s: %s", name.str().c_str(), toString(std::move(error)).c_str());
  }
  file.machine = inside.machine;
  for (EmbeddedPack &pack : inside.packs) {
    pack.member = name.str();
    file.packs.push_back(std::move(pack));
  }
  return Error::success();
}

/// Archives of GNU's and LLVM's `ar`: each member behind a head of texts, at even places. (LLVM's own reader believes
/// what it reads.)
static Error readArchive(StringRef bytes, HostFile &file) {
  if (bytes.starts_with(kThinArchive)) {
    return unreadable("it is a thin archive, which has no more than the names of objects");
  }
  static constexpr size_t headBytes = 60, nameBytes = 16, sizePlace = 48, sizeBytes = 10;
  file.kind = "archive";
  StringRef names; // those that are too long for a head
  for (size_t place = kArchive.size(); place < bytes.size();) {
    StringRef head = bytes.substr(place, headBytes);
    uint64_t size = 0;
    if (head.size() < headBytes || !head.ends_with("`\n") ||
        head.substr(sizePlace, sizeBytes).trim(' ').getAsInteger(10, size) ||
        size > bytes.size() - place - headBytes) {
      return unreadable("no member of an archive is at byte %zu", place);
    }
    StringRef member = bytes.substr(place + headBytes, size);
    StringRef name = head.take_front(nameBytes).rtrim(' ');
    size_t longName = 0;
    if (name == "//") {
      names = member;
    } else if (name.starts_with("/") && !name.drop_front().getAsInteger(10, longName)) {
      name = names.substr(longName).take_until([](char c) { return c == '\n'; });
    }
    name.consume_back("/");
    if (isElf(member)) {
      if (Error error = readMember(name, member, file)) {
        return error;
      }
    }
    place += headBytes + size + size % 2;
  }
  return Error::success();
}

Expected<HostFile> readHostFile(StringRef bytes) {
  HostFile file;
  if (Error error = isElf(bytes) ? readElf(bytes, file) : readArchive(bytes, file)) {
    return error;
  }
  return std::move(file);
}

} // namespace tilec
