#include "compiler/inspect/Cubin.h"

#include "compiler/inspect/ElfFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

namespace tilec {

using Section = object::ELF64LE::Shdr;

namespace {
/// The two forms of the file: that of CUDA before 13.0 (but for the newest architectures), and the other.
enum class Form { Old, New };

/// Attributes of `.nv.info` sections.
enum Attribute : uint8_t {
  MaxThreads = 0x05,
  RequiredThreads = 0x10,
  MinStackSize = 0x12,
  ParameterInfo = 0x17,
  ParameterBytes = 0x19,
  RegisterCount = 0x2f,
  ClusterSize = 0x3d,
  NumBarriers = 0x4c,
};

/// How an attribute stores its value.
enum ValueForm : uint8_t { NoValue = 1, ByteValue = 2, HalfValue = 3, SizedValue = 4 };
} // namespace

static constexpr uint8_t kOldAbi = 51, kNewAbi = 65;
static constexpr uint8_t kEntry = 0x10; ///< in st_other of a kernel's symbol
/// Shared memory that the hardware takes for itself stands in the sizes of cubins that have this section.
static constexpr StringLiteral kReservedShared = ".nv.shared.reserved.0";
static constexpr uint64_t kReservedBytes = 1024;

/// Calls `add` with each attribute of a section and the bytes of its value.
static Error forEachAttribute(StringRef name, StringRef bytes,
                              function_ref<void(uint8_t, StringRef)> add) {
  while (!bytes.empty()) {
    if (bytes.size() < 4) {
      return unreadable("section `%s` ends within an attribute", name.str().c_str());
    }
    const uint8_t form = bytes[0], attribute = bytes[1];
    if (form < NoValue || form > SizedValue) {
      return unreadable("section `%s` has an attribute of form %u", name.str().c_str(), form);
    }
    const size_t size = form == SizedValue ? read16le(bytes.data() + 2) : 0;
    if (size > bytes.size() - 4) {
      return unreadable("section `%s` ends within an attribute", name.str().c_str());
    }
    const size_t inPlace = form == ByteValue ? 1 : form == HalfValue ? 2 : 0;
    add(attribute, form == SizedValue ? bytes.substr(4, size) : bytes.substr(2, inPlace));
    bytes = bytes.drop_front(4 + size);
  }
  return Error::success();
}

namespace {
class Reader {
public:
  explicit Reader(Elf elf) : elf(std::move(elf)) {}
  Expected<CubinContents> read();

private:
  Error readHeader();
  Error readSections();
  Error readTool(StringRef note);
  Error readSymbols();
  Error readSizes();
  Error readKernel(CubinKernel &kernel);
  const Section *find(const Twine &name) const {
    auto found = sections.find(name.str());
    return found == sections.end() ? nullptr : found->second;
  }
  Expected<StringRef> contents(const Section &section) const {
    Expected<ArrayRef<uint8_t>> bytes = elf.getSectionContents(section);
    return bytes ? Expected<StringRef>(toStringRef(*bytes)) : bytes.takeError();
  }

  Elf elf;
  Form form = Form::New;
  unsigned number = 0; ///< of the architecture
  bool isAccelerated = false;
  std::map<std::string, const Section *> sections;
  std::vector<std::string> symbols; ///< names, by index
  CubinContents result;
};
} // namespace

Error Reader::readHeader() {
  const auto &header = elf.getHeader();
  const uint8_t abi = header.e_ident[ELF::EI_OSABI];
  if (header.e_machine != ELF::EM_CUDA || (abi != kOldAbi && abi != kNewAbi)) {
    return unreadable("its ABI %u is not one that is known", abi);
  }
  form = abi == kOldAbi ? Form::Old : Form::New;
  const uint32_t flags = header.e_flags;
  number = form == Form::Old ? flags & 0xff : flags >> 8 & 0xff;
  isAccelerated =
      (flags & (form == Form::Old ? ELF::EF_CUDA_ACCELERATORS_V1 : ELF::EF_CUDA_ACCELERATORS)) != 0;
  result.arch = "sm_" + std::to_string(number) + (isAccelerated ? "a" : "");
  return Error::success();
}

Error Reader::readSections() {
  auto list = elf.sections();
  if (!list) {
    return list.takeError();
  }
  for (const Section &section : *list) {
    Expected<StringRef> name = elf.getSectionName(section);
    if (!name) {
      return name.takeError();
    }
    sections.emplace(name->str(), &section);
  }
  return Error::success();
}

/// The note has the name of the tool, its version and its options as texts behind one another; of the architecture
/// `sm_90a` the header says no more than 90.
Error Reader::readTool(StringRef note) {
  SmallVector<StringRef> texts;
  note.split(texts, '\0', -1, /*KeepEmpty=*/false);
  for (StringRef text : texts) {
    if (text.contains("release ")) {
      result.tool = text.str();
    }
    const size_t place = text.find("-arch ");
    StringRef arch = place == StringRef::npos ? "" : text.substr(place + 6).take_until(isSpace);
    if (arch.starts_with("sm_" + std::to_string(number)) &&
        arch.drop_front(3).drop_while(isDigit).size() <= 1) {
      result.arch = arch.str();
    }
  }
  return Error::success();
}

Error Reader::readSymbols() {
  const Section *table = find(".symtab");
  if (!table) {
    return unreadable("it has no table of symbols");
  }
  auto list = elf.symbols(table);
  Expected<StringRef> names = elf.getStringTableForSymtab(*table);
  if (!list || !names) {
    return joinErrors(list ? Error::success() : list.takeError(),
                      names ? Error::success() : names.takeError());
  }
  for (const auto &symbol : *list) {
    Expected<StringRef> name = symbol.getName(*names);
    if (!name) {
      return name.takeError();
    }
    symbols.push_back(name->str());
    if (symbol.getType() == ELF::STT_FUNC && (symbol.st_other & kEntry) != 0) {
      result.kernels.emplace_back();
      result.kernels.back().name = name->str();
      result.kernels.back().codeBytes = symbol.st_size;
    }
  }
  return Error::success();
}

/// What the section of the whole file says: registers and stacks, each with the number of a symbol.
Error Reader::readSizes() {
  const Section *section = find(".nv.info");
  if (!section) {
    return result.kernels.empty() ? Error::success() : unreadable("it has no section `.nv.info`");
  }
  Expected<StringRef> bytes = contents(*section);
  if (!bytes) {
    return bytes.takeError();
  }
  std::map<std::string, uint32_t> registers, stacks;
  Error error = forEachAttribute(".nv.info", *bytes, [&](uint8_t attribute, StringRef value) {
    if (value.size() == 8 && read32le(value.data()) < symbols.size()) {
      const std::string &name = symbols[read32le(value.data())];
      if (attribute == RegisterCount) {
        registers[name] = read32le(value.data() + 4);
      } else if (attribute == MinStackSize) {
        stacks[name] = read32le(value.data() + 4);
      }
    }
  });
  for (CubinKernel &kernel : result.kernels) {
    if (!error && registers.find(kernel.name) == registers.end()) {
      return unreadable("it does not say how many registers `%s` needs", kernel.name.c_str());
    }
    kernel.registers = registers[kernel.name];
    kernel.stackBytes = stacks[kernel.name];
  }
  return error;
}

static std::array<uint32_t, 3> readExtents(StringRef value) {
  return {read32le(value.data()), read32le(value.data() + 4), read32le(value.data() + 8)};
}

Error Reader::readKernel(CubinKernel &kernel) {
  const Section *code = find(".text." + kernel.name);
  const Section *info = find(".nv.info." + kernel.name);
  if (!code || !info) {
    return unreadable("there is no section `%s%s`", code ? ".nv.info." : ".text.",
                      kernel.name.c_str());
  }
  if (form == Form::Old) {
    kernel.barriers = code->sh_flags >> 20 & 0x7f;
  }
  Expected<StringRef> bytes = contents(*info);
  if (!bytes) {
    return bytes.takeError();
  }
  if (const Section *shared = find(".nv.shared." + kernel.name)) {
    const uint64_t reserved = find(kReservedShared) ? kReservedBytes : 0;
    kernel.sharedBytes = shared->sh_size - std::min<uint64_t>(shared->sh_size, reserved);
  }
  return forEachAttribute(".nv.info." + kernel.name, *bytes,
                          [&](uint8_t attribute, StringRef value) {
                            if (attribute == NumBarriers && value.size() == 1) {
                              kernel.barriers = static_cast<uint8_t>(value[0]);
                            } else if (attribute == ParameterInfo) {
                              ++kernel.parameters;
                            } else if (attribute == ParameterBytes && value.size() == 2) {
                              kernel.parameterBytes = read16le(value.data());
                            } else if ((attribute == MaxThreads || attribute == RequiredThreads) &&
                                       value.size() == 12) {
                              kernel.threads = readExtents(value);
                              kernel.threadsAreExact = attribute == RequiredThreads;
                            } else if (attribute == ClusterSize && value.size() == 12) {
                              kernel.cluster = readExtents(value);
                            }
                          });
}

Expected<CubinContents> Reader::read() {
  if (Error error = readHeader()) {
    return error;
  }
  if (Error error = readSections()) {
    return error;
  }
  if (const Section *note = find(".note.nv.tkinfo")) {
    Expected<StringRef> bytes = contents(*note);
    if (!bytes) {
      return bytes.takeError();
    }
    if (Error error = readTool(*bytes)) {
      return error;
    }
  }
  if (Error error = readSymbols()) {
    return error;
  }
  if (Error error = readSizes()) {
    return error;
  }
  for (CubinKernel &kernel : result.kernels) {
    if (Error error = readKernel(kernel)) {
      return error;
    }
  }
  // `.nv.constant3` is of all, `.nv.constant0.k` of kernel k.
  for (const auto &[name, section] : sections) {
    StringRef rest = name;
    unsigned bank = 0;
    if (!rest.consume_front(".nv.constant") || rest.consumeInteger(10, bank)) {
      continue;
    }
    if (rest.empty()) {
      result.constants[bank] = section->sh_size;
    }
    for (CubinKernel &kernel : result.kernels) {
      if (rest == "." + kernel.name) {
        kernel.constants[bank] = section->sh_size;
      }
    }
  }
  return std::move(result);
}

bool isCubin(StringRef bytes) {
  return bytes.size() >= 20 && isElf(bytes) && read16le(bytes.data() + 18) == ELF::EM_CUDA;
}

Expected<CubinContents> readCubin(StringRef bytes) {
  if (!isElf64(bytes)) {
    return unreadable("its words are not those of 64 bits, little endian");
  }
  Expected<Elf> elf = openElf(bytes);
  if (!elf) {
    return elf.takeError();
  }
  return Reader(std::move(*elf)).read();
}

} // namespace tilec
