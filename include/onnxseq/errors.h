// SPDX-License-Identifier: Apache-2.0
// Errors: every exception that leaves the library derives from a standard exception and from onnxseq::Error.
//
// One form for all: `Op node "name", subject: fact in body 'b' of SequenceMap "map0", element 7`. The place that finds
// the problem knows subject and fact; those that walk the graph add the node and where it stands, keeping the
// exception's type.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// What an error is about. Any part may be empty.
struct ErrorWhere {
  std::string op_type;            // "SequenceLength"
  std::string node_name;          // "head/len"
  std::string subject;            // "input 0 'input_sequence' (\"xs\")"
  std::vector<std::string> path;  // innermost first: "in body 'b' of SequenceMap \"map0\", element 7"
};

// The face every exception of the library shows, next to its standard type. Not thread safe; exceptions are not shared.
class ONNXSEQ_API Error {
 public:
  Error(ErrorWhere where, std::string fact);
  virtual ~Error();

  const std::string& op_type() const { return where_.op_type; }
  const std::string& node_name() const { return where_.node_name; }
  const std::string& subject() const { return where_.subject; }
  const std::vector<std::string>& path() const { return where_.path; }
  const std::string& fact() const { return fact_; }
  // The whole text in the one form.
  virtual const char* what() const noexcept { return text_.c_str(); }

  // Names the node unless one is named already: what is found first is nearest to the cause.
  void AddNode(std::string_view op_type, std::string_view node_name);
  // Appends where the node stands, e.g. `in body 'b' of SequenceMap "map0", element 7`.
  void AddPath(std::string place);

 private:
  void Compose();
  ErrorWhere where_;
  std::string fact_;
  std::string text_;
};

// Std is a standard exception constructible from a string.
template <class Std>
class ErrorOf : public Std, public Error {
 public:
  explicit ErrorOf(std::string fact, ErrorWhere where = {}) : Std(fact), Error(std::move(where), std::move(fact)) {}
  const char* what() const noexcept override { return Error::what(); }
};

// Wrong data, attributes, shapes, types: the model or what was fed to it.
class ONNXSEQ_API InvalidArgument : public ErrorOf<std::invalid_argument> {
  using ErrorOf::ErrorOf;
};
// A name or index that is not there.
class ONNXSEQ_API OutOfRange : public ErrorOf<std::out_of_range> {
  using ErrorOf::ErrorOf;
};
// Sound input that this build cannot do; lists every reason found.
class ONNXSEQ_API Unsupported : public ErrorOf<std::invalid_argument> {
  using ErrorOf::ErrorOf;
};
// A file that cannot be opened, read, mapped or written.
class ONNXSEQ_API IoError : public ErrorOf<std::runtime_error> {
 public:
  explicit IoError(std::string fact, ErrorWhere where = {}, int error_number = 0)
      : ErrorOf(std::move(fact), std::move(where)), error_number_(error_number) {}
  // What the system said, as errno has it: ENOENT for a file that is not there. 0 where it said nothing.
  int error_number() const { return error_number_; }

 private:
  int error_number_;
};
// A run that went past its deadline or was cancelled.
class ONNXSEQ_API TimeoutError : public ErrorOf<std::runtime_error> {
  using ErrorOf::ErrorOf;
};
// More memory than the limit of the run, or than there is.
class ONNXSEQ_API MemoryError : public ErrorOf<std::runtime_error> {
  using ErrorOf::ErrorOf;
};

// Bytes or text that do not follow their format.
class ONNXSEQ_API ModelParseError : public ErrorOf<std::runtime_error> {
 public:
  // `offset` in bytes from the start of the input; `field_path` as "graph.node[3].attribute[0]", may be empty.
  ModelParseError(const std::string& fact, int64_t offset, std::string field_path);
  int64_t offset() const { return offset_; }
  const std::string& field_path() const { return field_path_; }

 private:
  int64_t offset_;
  std::string field_path_;
};

// Calls fn; a foreign exception leaves as the Error that says the same: std::bad_alloc as MemoryError,
// std::system_error (std::filesystem's) as IoError, std::out_of_range as OutOfRange, other logic errors as
// InvalidArgument, the rest as an Error that is a std::runtime_error.
[[noreturn]] ONNXSEQ_API void RethrowAsError();
template <class Fn>
decltype(auto) TranslateErrors(Fn&& fn) {
  try {
    return fn();
  } catch (...) {
    RethrowAsError();
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
