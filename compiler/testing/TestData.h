// The arguments of one case of `tilec test`: inputs and what the reference makes of them, as files.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/testing/TestCases.h"
#include "compiler/testing/TestReference.h"
#include "runtime/src/Manifest.h"

namespace tilec {

class TestData {
public:
  /// `kernel` describes the arguments; `source` is the kernel's file, beside which its reference
  /// lies. Files go to `folder`. All must outlive it.
  TestData(const tile_rt::Kernel &kernel, const KernelTests &tests, const TestCase &test,
           std::string source, std::string folder)
      : kernel(kernel), tests(tests), test(test), source(std::move(source)),
        folder(std::move(folder)) {}

  /// Draws the inputs and computes the reference.
  llvm::Error make(TestReference &reference);

  struct Output {
    std::string name;
    tile_rt::DType dtype;
    std::string reference; ///< its .npy file
    double tolerance;
  };
  llvm::ArrayRef<Output> outputs() const { return outputList; }
  /// The call, as options of `tilec run` and tile-run.
  const std::vector<std::string> &dims() const { return dimTexts; }
  const std::vector<std::string> &args() const { return argTexts; }

private:
  llvm::Error bind();
  llvm::Error addTensor(unsigned index);
  llvm::Error fill(const tile_rt::Argument &argument, llvm::StringRef how, const std::string &path);
  double toleranceOf(tile_rt::DType dtype) const;
  std::string placeOf(const std::string &function) const;
  uint64_t seed() const;

  const tile_rt::Kernel &kernel;
  const KernelTests &tests;
  const TestCase &test;
  std::string source, folder;
  tile_rt::Env env;
  std::vector<std::string> drawn; ///< inputs that the `inputs` function made
  llvm::json::Object values, inputPaths, outputPaths;
  std::vector<Output> outputList;
  std::vector<std::string> dimTexts, argTexts;
};

} // namespace tilec
