# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: the library, its headers, a CMake package (find_package(onnxseq), target onnxseq::onnxseq) and
# a pkg-config file. Component `library`; the program and the Python package are components of their own.
include(CMakePackageConfigHelpers)

set(onnxseq_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/onnxseq)

install(TARGETS onnxseq EXPORT onnxseq_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
install(FILES ${ONNXSEQ_CONFIG_DIR}/onnx_proto/config.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/onnx_proto COMPONENT library)

install(EXPORT onnxseq_targets NAMESPACE onnxseq:: DESTINATION ${onnxseq_package_dir} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/onnxseqConfig.cmake.in ${PROJECT_BINARY_DIR}/onnxseqConfig.cmake
                              INSTALL_DESTINATION ${onnxseq_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onnxseqConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/onnxseqConfig.cmake ${PROJECT_BINARY_DIR}/onnxseqConfigVersion.cmake
        DESTINATION ${onnxseq_package_dir} COMPONENT library)

# From lib/pkgconfig (or lib/<triplet>/pkgconfig) up to the prefix.
file(RELATIVE_PATH onnxseq_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" onnxseq_up "${onnxseq_up}")
set(onnxseq_pc_prefix "\${pcfiledir}/${onnxseq_up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/onnxseq.pc.in ${PROJECT_BINARY_DIR}/onnxseq.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/onnxseq.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
