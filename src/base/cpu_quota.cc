// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Where a hierarchy is mounted, and which of its groups stands at that place.
struct Mount {
  std::string group_root;
  std::string place;
};

bool ListHas(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

// A line of mountinfo: id parent dev root place options... - type source super_options.
std::optional<Mount> FindMount(const std::string& root, bool v2) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string id, parent, dev, word, type, source, super_options;
    Mount mount;
    if (!(words >> id >> parent >> dev >> mount.group_root >> mount.place)) continue;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> super_options;
    if (v2 ? type == "cgroup2" : type == "cgroup" && ListHas(super_options, "cpu")) return mount;
  }
  return std::nullopt;
}

// The process's group in the hierarchy, as the kernel names it: lines `id:controllers:path`, v2 has id 0 and no
// controllers.
std::optional<std::string> FindGroup(const std::string& root, bool v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    if (v2 ? controllers.empty() : ListHas(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

std::optional<double> ReadNumber(std::istream& in) {
  double value;
  if (in >> value) return value;  // "max" and a missing file fail alike: no limit
  return std::nullopt;
}

std::optional<double> LimitIn(const std::string& folder, bool v2) {
  std::optional<double> quota, period;
  if (v2) {
    std::ifstream file(folder + "/cpu.max");
    quota = ReadNumber(file);
    period = ReadNumber(file);
  } else {
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
    quota = ReadNumber(quota_file);
    period = ReadNumber(period_file);
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

std::optional<double> TightestLimit(const std::string& root, bool v2) {
  const std::optional<Mount> mount = FindMount(root, v2);
  const std::optional<std::string> group = FindGroup(root, v2);
  if (!mount || !group) return std::nullopt;
  // In a container the mount may show only a part of the hierarchy: the path below it is what counts.
  std::string path = *group;
  if (mount->group_root != "/" && path.starts_with(mount->group_root)) path.erase(0, mount->group_root.size());
  std::optional<double> tightest;
  for (;;) {
    if (path == "/") path.clear();
    const std::optional<double> limit = LimitIn(root + mount->place + path, v2);
    if (limit && (!tightest || *limit < *tightest)) tightest = limit;
    if (path.empty()) return tightest;
    const size_t slash = path.rfind('/');
    path.erase(slash == std::string::npos ? 0 : slash);
  }
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& root) {
  const std::optional<double> v1 = TightestLimit(root, false);
  const std::optional<double> v2 = TightestLimit(root, true);
  return v1 && v2 ? std::min(*v1, *v2) : v1 ? v1 : v2;
}

}  // namespace ONNX_LIGHT_NAMESPACE
