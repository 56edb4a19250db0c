// SPDX-License-Identifier: Apache-2.0
#include "kernels/dnn/dnn.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "base/cpu_features.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr const char* kFile = "libonnxseq_dnn.so";

// What ONNXSEQ_DNN says: "off", the path of the module, or nothing.
std::string Wish() {
  const char* value = std::getenv("ONNXSEQ_DNN");
  return value != nullptr ? value : "";
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

struct Found {
  std::string path;  // empty: nowhere
  std::string text;  // what to say then
};

// Where ONNXSEQ_DNN says, or else beside a library, or where a program in bin/ has its libraries.
Found FindModule() {
  const std::string wish = Wish(), folder = OwnFolder();
  std::vector<std::string> paths{wish};
  if (wish.empty()) paths = {folder + kFile, folder + "../lib/" + kFile};
  for (const std::string& path : paths)
    if (access(path.c_str(), R_OK) == 0) return {path, ""};
  return {"", "cannot find " + paths[0] + ", the module with oneDNN: slower kernels do its work"};
}

struct Door {
  const OnnxseqDnn* table = nullptr;
  std::string text;
};

Door Open() {
  if (Wish() == "off") return {nullptr, "off, as ONNXSEQ_DNN says"};
  const auto [path, text] = FindModule();
  if (path.empty()) return {nullptr, text};
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
  return {table, table->library};
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
  const std::string wish = Wish();
  if (wish == "off") return "";
  const auto [path, text] = FindModule();
  // What the user names may be anything: it is looked into at once.
  if (!wish.empty() && !path.empty() && Dnn() == nullptr) return TheDoor().text + ": slower kernels do its work";
  return text;
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
