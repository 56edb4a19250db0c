# SPDX-License-Identifier: Apache-2.0
# onnxseq_layer(name DEPS layer... LINK target... SOURCES file...): one folder of src/ as a static library of its own,
#   so that a test links only the layers below what it tests. All of them together become libonnxseq.
# onnxseq_test(name DEPS layer... LINK target... SOURCES file...): one GoogleTest binary, found by ctest.

add_library(onnxseq_flags INTERFACE)
target_include_directories(onnxseq_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${ONNXSEQ_CONFIG_DIR})
target_compile_definitions(onnxseq_flags INTERFACE ONNXSEQ_BUILDING)
if(ONNXSEQ_STRICT)
  target_compile_options(onnxseq_flags INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Werror)
endif()
if(ONNXSEQ_SANITIZE)
  target_compile_options(onnxseq_flags INTERFACE -fsanitize=${ONNXSEQ_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(onnxseq_flags INTERFACE -fsanitize=${ONNXSEQ_SANITIZE})
endif()

configure_file(${PROJECT_SOURCE_DIR}/cmake/config.h.in ${ONNXSEQ_CONFIG_DIR}/onnx_proto/config.h @ONLY)

add_library(onnxseq_fmt STATIC ${PROJECT_SOURCE_DIR}/src/base/fmt.cc)
target_include_directories(onnxseq_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(onnxseq_fmt PRIVATE onnxseq_flags)

# onnxseq_precompile(target header...): parsing the standard library, fmt and GoogleTest takes most of the time of a file,
# so they are read once per target. By g++ alone: what clang precompiles holds the paths and times of one build folder,
# which keeps the compiler cache from serving another. Sources include what they use all the same, which clang sees to.
function(onnxseq_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <chrono> <cmath> <complex> <cstdint>
      <cstring> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view>
      <tuple> <type_traits> <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>
      ${ARGN})
    # What g++ 12 says wrongly of the insides of std::string; that they are a system's header is lost on it here.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

function(onnxseq_layer name)
  cmake_parse_arguments(A "" "" "DEPS;LINK;SOURCES" ${ARGN})
  add_library(onnxseq_${name} STATIC ${A_SOURCES})
  target_link_libraries(onnxseq_${name} PUBLIC onnxseq_flags onnxseq_fmt PRIVATE ${A_LINK})
  foreach(dep ${A_DEPS})
    target_link_libraries(onnxseq_${name} PUBLIC onnxseq_${dep})
  endforeach()
  onnxseq_precompile(onnxseq_${name})
  set_property(GLOBAL APPEND PROPERTY ONNXSEQ_LAYERS onnxseq_${name})
endfunction()

if(ONNXSEQ_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

function(onnxseq_test name)
  if(NOT ONNXSEQ_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "" "DEPS;LINK;SOURCES" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE onnxseq_flags GTest::gmock GTest::gtest_main onnxseq_fmt ${A_LINK})
  foreach(dep ${A_DEPS})
    target_link_libraries(${name} PRIVATE onnxseq_${dep})
  endforeach()
  target_compile_options(${name} PRIVATE -O0)
  target_compile_definitions(${name} PRIVATE ONNXSEQ_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" ONNXSEQ_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  onnxseq_precompile(${name} <gmock/gmock.h> <gtest/gtest.h>)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
