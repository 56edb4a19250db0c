// SPDX-License-Identifier: Apache-2.0
// The accessors of one field, by label and kind; included by onnx_proto/onnx.h only, which undefines the macros again.
//   singular: x() has_x() set_x() clear_x() ref_x() mutable_x(); messages also add_x(), the same as mutable_x().
//   Presence of a singular value that is no message is bit `number` of present_.
//   repeated: x() x(i) x_size() has_x() add_x() set_x() clear_x() ref_x() mutable_x() mutable_x(i).
// IWYU pragma: private

#define ONNXSEQ_SINGULAR_COMMON(type, name, number)                 \
 public:                                                            \
  bool has_##name() const { return (present_ >> number & 1) != 0; } \
  const type& ref_##name() const { return field_##name; }           \
  type& ref_##name() {                                              \
    present_ |= 1u << number;                                       \
    return field_##name;                                            \
  }                                                                 \
  type* mutable_##name() { return &ref_##name(); }

#define ONNXSEQ_SINGULAR_SCALAR(type, name, number)     \
  ONNXSEQ_SINGULAR_COMMON(type, name, number)           \
  type name() const { return field_##name; }            \
  void set_##name(type value) { ref_##name() = value; } \
  void clear_##name() {                                 \
    present_ &= ~(1u << number);                        \
    field_##name = type{};                              \
  }                                                     \
                                                        \
 private:                                               \
  type field_##name{};

#define ONNXSEQ_SINGULAR_INT32(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)
#define ONNXSEQ_SINGULAR_INT64(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)
#define ONNXSEQ_SINGULAR_UINT64(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)
#define ONNXSEQ_SINGULAR_FLOAT(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)
#define ONNXSEQ_SINGULAR_DOUBLE(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)
#define ONNXSEQ_SINGULAR_ENUM(M, type, name, number) ONNXSEQ_SINGULAR_SCALAR(type, name, number)

#define ONNXSEQ_SINGULAR_TEXT(type, name, number)                        \
  ONNXSEQ_SINGULAR_COMMON(type, name, number)                            \
  const type& name() const { return field_##name; }                      \
  void set_##name(const void* data, size_t size) {                       \
    set_##name(type(std::string(static_cast<const char*>(data), size))); \
  }                                                                      \
  void clear_##name() {                                                  \
    present_ &= ~(1u << number);                                         \
    field_##name.clear();                                                \
  }                                                                      \
                                                                         \
 private:                                                                \
  type field_##name;                                                     \
                                                                         \
 public:                                                                 \
  void set_##name(type value) { ref_##name() = std::move(value); }

#define ONNXSEQ_SINGULAR_STRING(M, type, name, number) ONNXSEQ_SINGULAR_TEXT(type, name, number)
#define ONNXSEQ_SINGULAR_BYTES(M, type, name, number) ONNXSEQ_SINGULAR_TEXT(type, name, number)

#define ONNXSEQ_SINGULAR_MESSAGE(M, type, name, number)                                          \
 public:                                                                                         \
  bool has_##name() const { return field_##name.has(); }                                         \
  const type& name() const { return field_##name.get(); }                                        \
  const type& ref_##name() const { return field_##name.get(); }                                  \
  type& name() { return field_##name.ensure(); }                                                 \
  type& ref_##name() { return field_##name.ensure(); }                                           \
  type* mutable_##name() { return &field_##name.ensure(); }                                      \
  type* add_##name() { return &field_##name.ensure(); }                                          \
  void set_##name(const type& value) { MessageOps<type>::Assign(field_##name.ensure(), value); } \
  void clear_##name() { field_##name.reset(); }                                                  \
                                                                                                 \
 private:                                                                                        \
  Box<type> field_##name;

#define ONNXSEQ_REPEATED_COMMON(Container, type, name)                      \
 public:                                                                    \
  int name##_size() const { return static_cast<int>(field_##name.size()); } \
  bool has_##name() const { return !field_##name.empty(); }                 \
  const Container<type>& name() const { return field_##name; }              \
  Container<type>& name() { return field_##name; }                          \
  const Container<type>& ref_##name() const { return field_##name; }        \
  Container<type>& ref_##name() { return field_##name; }                    \
  Container<type>* mutable_##name() { return &field_##name; }               \
  type* mutable_##name(size_t i) { return &field_##name[i]; }               \
  void clear_##name() { field_##name.clear(); }                             \
                                                                            \
 private:                                                                   \
  Container<type> field_##name;                                             \
                                                                            \
 public:

#define ONNXSEQ_REPEATED_SCALAR(type, name)                          \
  ONNXSEQ_REPEATED_COMMON(Repeated, type, name)                      \
  type name(size_t i) const { return field_##name[i]; }              \
  void set_##name(size_t i, type value) { field_##name[i] = value; } \
  void add_##name(type value) { field_##name.push_back(value); }

#define ONNXSEQ_REPEATED_INT32(M, type, name) ONNXSEQ_REPEATED_SCALAR(type, name)
#define ONNXSEQ_REPEATED_INT64(M, type, name) ONNXSEQ_REPEATED_SCALAR(type, name)
#define ONNXSEQ_REPEATED_UINT64(M, type, name) ONNXSEQ_REPEATED_SCALAR(type, name)
#define ONNXSEQ_REPEATED_FLOAT(M, type, name) ONNXSEQ_REPEATED_SCALAR(type, name)
#define ONNXSEQ_REPEATED_DOUBLE(M, type, name) ONNXSEQ_REPEATED_SCALAR(type, name)

#define ONNXSEQ_REPEATED_TEXT(type, name)                                       \
  ONNXSEQ_REPEATED_COMMON(Repeated, type, name)                                 \
  const type& name(size_t i) const { return field_##name[i]; }                  \
  void set_##name(size_t i, type value) { field_##name[i] = std::move(value); } \
  type* add_##name() { return &field_##name.emplace_back(); }                   \
  type* add_##name(type value) { return &field_##name.emplace_back(std::move(value)); }

#define ONNXSEQ_REPEATED_STRING(M, type, name) ONNXSEQ_REPEATED_TEXT(type, name)
#define ONNXSEQ_REPEATED_BYTES(M, type, name) ONNXSEQ_REPEATED_TEXT(type, name)

#define ONNXSEQ_REPEATED_MESSAGE(M, type, name)                                                      \
  ONNXSEQ_REPEATED_COMMON(RepeatedMessages, type, name)                                              \
  const type& name(size_t i) const { return field_##name[i]; }                                       \
  void set_##name(size_t i, const type& value) { MessageOps<type>::Assign(field_##name[i], value); } \
  type* add_##name() { return &field_##name.add(); }

// A member of a oneof: being set makes it the active one and drops the others.
#define ONNXSEQ_ONEOF_COMMON(oneof, type, name, number)      \
 public:                                                     \
  bool has_##name() const { return case_##oneof == number; } \
  type* mutable_##name() { return &ref_##name(); }           \
  void clear_##name() {                                      \
    if (has_##name()) clear_##oneof();                       \
  }                                                          \
                                                             \
 private:                                                    \
  void activate_##name() {                                   \
    if (has_##name()) return;                                \
    clear_##oneof();                                         \
    case_##oneof = number;                                   \
  }

#define ONNXSEQ_ONEOF_INT64(M, oneof, type, name, number)        \
  ONNXSEQ_ONEOF_COMMON(oneof, type, name, number)                \
  void drop_##name() { field_##name = type{}; }                  \
  type field_##name{};                                           \
                                                                 \
 public:                                                         \
  type name() const { return field_##name; }                     \
  const type& ref_##name() const { return field_##name; }        \
  type& ref_##name() { return activate_##name(), field_##name; } \
  void set_##name(type value) { ref_##name() = value; }

#define ONNXSEQ_ONEOF_STRING(M, oneof, type, name, number)       \
  ONNXSEQ_ONEOF_COMMON(oneof, type, name, number)                \
  void drop_##name() { field_##name.clear(); }                   \
  type field_##name;                                             \
                                                                 \
 public:                                                         \
  const type& name() const { return field_##name; }              \
  const type& ref_##name() const { return field_##name; }        \
  type& ref_##name() { return activate_##name(), field_##name; } \
  void set_##name(type value) { ref_##name() = std::move(value); }

#define ONNXSEQ_ONEOF_MESSAGE(M, oneof, type, name, number)               \
  ONNXSEQ_ONEOF_COMMON(oneof, type, name, number)                         \
  void drop_##name() { field_##name.reset(); }                            \
  Box<type> field_##name;                                                 \
                                                                          \
 public:                                                                  \
  const type& name() const { return field_##name.get(); }                 \
  const type& ref_##name() const { return field_##name.get(); }           \
  type& name() { return ref_##name(); }                                   \
  type& ref_##name() { return activate_##name(), field_##name.ensure(); } \
  type* add_##name() { return &ref_##name(); }                            \
  void set_##name(const type& value) { MessageOps<type>::Assign(ref_##name(), value); }
