// One small kernel, from the text of its body, run on buffers.
//
//   TestKernel kernel("mov.u32 %r0, %tid.x; ... st.global.b32 [%rd0], %r0;");
//   kernel.block = {64, 1, 1};
//   kernel.output("out", 64 * 4);                    // pointer in %buf0, never written
//   kernel.input("in", std::vector<float>{1, 2});    // pointer in %buf1
//   kernel.run();
//   EXPECT_EQ(kernel.describe(), "");
//   kernel.read<uint32_t>("out")[3]
#pragma once

#include "runtime/emulator/Emulator.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tile_emu {

class TestKernel {
public:
  /// `body` has predicates %p, 16-bit %h, 32-bit %r and %f, 64-bit %rd and %fd, 128-bit %q, of 100
  /// each, and %buf0, ...: the buffers' addresses. It may end without `ret`.
  explicit TestKernel(std::string body) : body(std::move(body)) {}

  std::string body;
  std::string moduleText; ///< declarations outside of the kernel
  std::string directives; ///< ".reqntid 32"
  std::array<uint32_t, 3> grid{1, 1, 1}, block{32, 1, 1}, cluster{1, 1, 1};
  uint64_t dynamicSharedBytes = 0;
  Options options;

  void output(const std::string &name, uint64_t bytes) {
    buffers.push_back({name, {}, std::vector<uint8_t>(bytes), false});
  }
  template <typename T>
  void input(const std::string &name, const std::vector<T> &values) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    buffers.push_back({name, bytes, bytes, true});
  }

  /// A tensor map of a buffer, `recipe.base` bytes into it; its address is in %map0, ...
  void map(const std::string &buffer, TensorMapRecipe recipe) { maps.push_back({buffer, recipe}); }

  std::string text() const {
    std::string params, loads;
    for (size_t i = 0; i != buffers.size(); ++i) {
      std::string n = std::to_string(i);
      params += (i ? ", .param .u64 p" : ".param .u64 p") + n;
      loads += "ld.param.u64 %buf" + n + ", [p" + n + "];\n";
    }
    for (size_t i = 0; i != maps.size(); ++i) {
      std::string n = std::to_string(i);
      params += (params.empty() ? "" : ", ") + (".param .align 64 .b8 m" + n + "[128]");
      loads += "mov.b64 %map" + n + ", m" + n + ";\ncvta.param.u64 %map" + n + ", %map" + n + ";\n";
    }
    return ".version 9.0\n.target sm_90a\n.address_size 64\n" + moduleText +
           "\n.visible .entry k(" + params + ")\n" + directives +
           "\n{\n.reg .pred %p<100>;\n.reg .b16 %h<100>;\n.reg .b32 %r<100>;\n"
           ".reg .f32 %f<100>;\n.reg .b64 %rd<100>;\n.reg .f64 %fd<100>;\n"
           ".reg .b128 %q<100>;\n.reg .b64 %buf<100>;\n.reg .b64 %map<100>;\n" +
           loads + body + "\n}\n";
  }

  /// False if the grid had to be stopped. May be called again, also after changes;
  /// inputs are as they were given.
  bool run() {
    emulator = std::make_unique<Emulator>(options);
    module = emulator->load(text());
    Emulator::Launch launch{.entry = "k",
                            .grid = grid,
                            .block = block,
                            .cluster = cluster,
                            .dynamicSharedBytes = dynamicSharedBytes,
                            .params = {}};
    std::vector<uint64_t> addresses;
    for (const Buffer &buffer : buffers) {
      uint64_t address = emulator->allocate(buffer.bytes.size(), buffer.name);
      if (buffer.isInput) {
        emulator->write(address, buffer.initial.data(), buffer.initial.size());
      }
      addresses.push_back(address);
      std::vector<uint8_t> param(8);
      std::memcpy(param.data(), &address, 8);
      launch.params.push_back(param);
    }
    for (const Map &map : maps) {
      TensorMapRecipe recipe = map.recipe;
      for (size_t i = 0; i != buffers.size(); ++i) {
        recipe.base += buffers[i].name == map.buffer ? addresses[i] : 0;
      }
      std::array<uint8_t, 128> bytes = encodeTensorMap(recipe);
      launch.params.emplace_back(bytes.begin(), bytes.end());
    }
    bool finished = emulator->launch(*module, launch);
    for (size_t i = 0; i != buffers.size(); ++i) {
      emulator->read(addresses[i], buffers[i].bytes.data(), buffers[i].bytes.size());
    }
    return finished;
  }

  /// What a buffer holds after run().
  template <typename T>
  std::vector<T> read(const std::string &name) const {
    for (const Buffer &buffer : buffers) {
      if (buffer.name == name) {
        std::vector<T> values(buffer.bytes.size() / sizeof(T));
        std::memcpy(values.data(), buffer.bytes.data(), values.size() * sizeof(T));
        return values;
      }
    }
    ADD_FAILURE() << "no buffer " << name;
    return {};
  }

  const std::vector<Report> &reports() const { return emulator->reports(); }
  std::string describe() const { return emulator->describe(); }
  /// Is there a report of this kind with these words in it?
  bool reported(Report::Kind kind, const std::string &words = "") const {
    for (const Report &report : reports()) {
      bool found = report.message.find(words) != std::string::npos;
      for (const std::string &note : report.notes) {
        found |= note.find(words) != std::string::npos;
      }
      if (report.kind == kind && found) {
        return true;
      }
    }
    return false;
  }

private:
  struct Buffer {
    std::string name;
    std::vector<uint8_t> initial, bytes;
    bool isInput;
  };
  struct Map {
    std::string buffer;
    TensorMapRecipe recipe;
  };
  std::vector<Buffer> buffers;
  std::vector<Map> maps;
  std::unique_ptr<Emulator> emulator;
  std::shared_ptr<Emulator::Loaded> module;
};

} // namespace tile_emu
