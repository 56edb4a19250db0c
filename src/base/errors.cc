// SPDX-License-Identifier: Apache-2.0
#include "onnxseq/errors.h"

#include <fmt/format.h>

#include <new>
#include <system_error>
#include <utility>

#include "base/visible_text.h"

namespace ONNX_LIGHT_NAMESPACE {

Error::Error(ErrorWhere where, std::string fact) : where_(std::move(where)), fact_(std::move(fact)) { Compose(); }
Error::~Error() = default;

void Error::AddNode(std::string_view op_type, std::string_view node_name) {
  if (!where_.op_type.empty() || !where_.path.empty()) return;
  where_.op_type = op_type;
  where_.node_name = node_name;
  Compose();
}

void Error::AddPath(std::string place) {
  where_.path.push_back(std::move(place));
  Compose();
}

void Error::Compose() {
  text_.clear();
  if (!where_.op_type.empty()) {
    text_ = where_.op_type;
    if (!where_.node_name.empty()) text_ += fmt::format(" node \"{}\"", where_.node_name);
  }
  if (!where_.subject.empty()) text_ += (text_.empty() ? "" : ", ") + where_.subject;
  text_ += (text_.empty() ? "" : ": ") + fact_;
  for (const std::string& place : where_.path) text_ += " " + place;
  text_ = VisibleText(text_);
}

ModelParseError::ModelParseError(const std::string& fact, int64_t offset, std::string field_path)
    : ErrorOf(fact, ErrorWhere{.op_type = {},
                               .node_name = {},
                               .subject = field_path.empty() ? fmt::format("byte {}", offset)
                                                             : fmt::format("byte {}, {}", offset, field_path),
                               .path = {}}),
      offset_(offset),
      field_path_(std::move(field_path)) {}

void RethrowAsError() {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw MemoryError("out of memory");
  } catch (const std::out_of_range& e) {
    throw OutOfRange(e.what());
  } catch (const std::logic_error& e) {
    throw InvalidArgument(e.what());
  } catch (const std::system_error& e) {  // std::filesystem's among them
    const bool is_errno =
        e.code().category() == std::generic_category() || e.code().category() == std::system_category();
    throw IoError(e.what(), {}, is_errno ? e.code().value() : 0);
  } catch (const std::exception& e) {
    throw ErrorOf<std::runtime_error>(e.what());
  } catch (...) {
    throw ErrorOf<std::runtime_error>("an exception of an unknown kind");
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
