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

function(onnxseq_layer name)
  cmake_parse_arguments(A "" "" "DEPS;LINK;SOURCES" ${ARGN})
  add_library(onnxseq_${name} STATIC ${A_SOURCES})
  target_link_libraries(onnxseq_${name} PUBLIC onnxseq_flags onnxseq_fmt PRIVATE ${A_LINK})
  foreach(dep ${A_DEPS})
    target_link_libraries(onnxseq_${name} PUBLIC onnxseq_${dep})
  endforeach()
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
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300)
endfunction()
