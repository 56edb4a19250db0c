// SPDX-License-Identifier: Apache-2.0
// The smallest test framework there is: an outside program uses nothing of ours but the library.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

#define CHECK_THROWS(exception, statement)                                                         \
  do {                                                                                             \
    bool thrown = false;                                                                           \
    try {                                                                                          \
      statement;                                                                                   \
    } catch (const exception&) {                                                                   \
      thrown = true;                                                                               \
    }                                                                                              \
    if (!thrown) {                                                                                 \
      std::fprintf(stderr, "%s:%d: no %s from: %s\n", __FILE__, __LINE__, #exception, #statement); \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)
