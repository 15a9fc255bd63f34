#include "compiler/inspect/ElfFile.h"

#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;

namespace tilec {

bool isElf(StringRef bytes) { return bytes.starts_with(ELF::ElfMagic); }

bool isElf64(StringRef bytes) {
  return bytes.size() > ELF::EI_DATA && bytes[ELF::EI_CLASS] == ELF::ELFCLASS64 &&
         bytes[ELF::EI_DATA] == ELF::ELFDATA2LSB;
}

Expected<Elf> openElf(StringRef bytes) {
  Expected<Elf> elf = Elf::create(bytes);
  if (!elf) {
    return elf.takeError();
  }
  auto sections = elf->sections();
  if (!sections) {
    return sections.takeError();
  }
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_NOBITS) {
      continue;
    }
    if (Error error = elf->getSectionContents(section).takeError()) {
      return error;
    }
  }
  auto segments = elf->program_headers();
  if (!segments) {
    return segments.takeError();
  }
  for (const auto &segment : *segments) {
    if (segment.p_offset > bytes.size() || segment.p_filesz > bytes.size() - segment.p_offset) {
      return unreadable("a segment of %llu bytes at %llu goes past the end of the file",
                        static_cast<unsigned long long>(segment.p_filesz),
                        static_cast<unsigned long long>(segment.p_offset));
    }
  }
  return elf;
}

} // namespace tilec
