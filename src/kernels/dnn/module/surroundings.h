// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dnnl.hpp>

// Of the OpenMP runtime oneDNN is linked with; not every compiler here has its header.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int);

namespace dnn_module {

inline const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
inline dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

// While it lives, OpenMP regions of the calling thread have one thread, the caller: no pool is made, which would spin
// beside ours and hang in a forked child.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace dnn_module
