// SPDX-License-Identifier: Apache-2.0
#include "kernels/dnn/dnn.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "base/cpu_features.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr std::string_view kFile = "libonnxseq_dnn.so";

bool IsOff() {
  const char* value = std::getenv("ONNXSEQ_DNN");
  return value != nullptr && std::string_view(value) == "off";
}

// The folder of the library or program this code is part of, with the slash; empty when it cannot be told.
std::string OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&OwnFolder), &info) == 0 || info.dli_fname == nullptr) return "";
  // A program is named as it was called, which may be without any folder.
  std::string path = info.dli_fname;
  if (char* const real = realpath(path.find('/') != std::string::npos ? path.c_str() : "/proc/self/exe", nullptr)) {
    path = real;
    std::free(real);
  }
  return path.substr(0, path.rfind('/') + 1);
}

// Beside a library, or where a program in bin/ has its libraries; empty when in neither.
std::string FindModule(const std::string& folder) {
  for (const char* between : {"", "../lib/"}) {
    std::string path = folder + between + std::string(kFile);
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

std::string NotFound(const std::string& folder) {
  return "cannot find " + std::string(kFile) + " in " + folder + ", which has oneDNN: slower kernels do its work";
}

struct Door {
  const OnnxseqDnn* table = nullptr;
  std::string text;
};

Door Open() {
  if (IsOff()) return {nullptr, "off, as ONNXSEQ_DNN says"};
  const std::string folder = OwnFolder(), path = FindModule(folder);
  if (path.empty()) return {nullptr, NotFound(folder)};
  // Never closed: its threads' data outlive any owner there could be.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return {nullptr, std::string("cannot open it: ") + dlerror()};
  const auto entry = reinterpret_cast<decltype(&onnxseq_dnn)>(dlsym(module, "onnxseq_dnn"));
  if (entry == nullptr) return {nullptr, path + " is no module of this library"};
  EnsureIsa();
  const Isa isa = ActiveIsa();
  const OnnxseqDnn* const table = entry(ONNXSEQ_DNN_ABI, isa == Isa::kAvx512 ? kDnnBest
                                                         : isa == Isa::kAvx2 ? kDnnAvx2
                                                                             : kDnnSse4);
  if (table == nullptr) return {nullptr, path + " is of another version of this library"};
  return {table, std::string(table->library) + (table->exact_bytes != 0 ? "" : ", without products of bytes")};
}

const Door& TheDoor() {
  static const Door door = Open();
  return door;
}

}  // namespace

const OnnxseqDnn* Dnn() noexcept {
  try {
    return TheDoor().table;
  } catch (const std::exception&) {
    return nullptr;  // no memory for a path: tried again next time
  }
}

std::string DnnMissing() {
  if (IsOff()) return "";
  const std::string folder = OwnFolder();
  return FindModule(folder).empty() ? NotFound(folder) : "";
}

std::string DescribeDnn() { return TheDoor().text; }

OnnxseqDnnWeights* DnnWeights::Get(const OnnxseqDnn& dnn) {
  std::call_once(once_, [&] {
    weights_.reset(dnn.new_weights());
    if (weights_ == nullptr) throw std::bad_alloc();
  });
  return weights_.get();
}

void DnnWeights::Free::operator()(OnnxseqDnnWeights* weights) const {
  if (const OnnxseqDnn* const dnn = Dnn()) dnn->free_weights(weights);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
