# Files for find_package(ablate), from the build tree and from an install prefix. ablateConfig.cmake lists the targets.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# An install prefix may be moved, so its paths are relative to the config's folder. Paths of a build tree are absolute.
set(ABLATE_SDK_LOCATION ${PROJECT_SOURCE_DIR}/core/sdk/include)
set(ABLATE_SDK_TORCH_LOCATION ${CMAKE_BINARY_DIR}/core/libablate_sdk_torch.a)
set(ABLATE_SDK_TASK_LOCATION ${CMAKE_BINARY_DIR}/core/libablate_sdk_task.a)
set(ABLATE_CUDA_SHIM_LOCATION ${CMAKE_BINARY_DIR}/core/libablate_cuda_shim.a)
set(ABLATE_MODULES_LOCATION ${PROJECT_SOURCE_DIR}/cmake)
set(ABLATE_PROGRAM_LOCATION ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ablate)
set(ABLATE_IDENTITY_LOCATION ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ablate-identity)
configure_file(cmake/ablateConfig.cmake.in ${CMAKE_BINARY_DIR}/ablateConfig.cmake @ONLY)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/ablate)
file(RELATIVE_PATH ABLATE_SDK_LOCATION /${_package} /${CMAKE_INSTALL_INCLUDEDIR})
file(RELATIVE_PATH ABLATE_SDK_TORCH_LOCATION /${_package} /lib/ablate/libablate_sdk_torch.a)
file(RELATIVE_PATH ABLATE_SDK_TASK_LOCATION /${_package} /lib/ablate/libablate_sdk_task.a)
file(RELATIVE_PATH ABLATE_CUDA_SHIM_LOCATION /${_package} /lib/ablate/libablate_cuda_shim.a)
set(ABLATE_MODULES_LOCATION .)
file(RELATIVE_PATH ABLATE_PROGRAM_LOCATION /${_package} /${CMAKE_INSTALL_BINDIR}/ablate)
file(RELATIVE_PATH ABLATE_IDENTITY_LOCATION /${_package} /${CMAKE_INSTALL_BINDIR}/ablate-identity)
configure_file(cmake/ablateConfig.cmake.in ${CMAKE_BINARY_DIR}/install/ablateConfig.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ablateConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(FILES ${CMAKE_BINARY_DIR}/install/ablateConfig.cmake ${CMAKE_BINARY_DIR}/ablateConfigVersion.cmake cmake/LibTorch.cmake
              cmake/AblatePlugin.cmake DESTINATION ${_package})
install(DIRECTORY core/sdk/include/ablate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ablate_sdk_torch ablate_sdk_task ablate_cuda_shim ARCHIVE DESTINATION lib/ablate)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/ablate)
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS ablate ablate-worker ablate-checker ablate-identity RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ablate-plot)  # with cairo
  install(TARGETS ablate-plot RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
get_property(_plugins TARGET ablate_plugins PROPERTY MANUALLY_ADDED_DEPENDENCIES)
install(TARGETS ${_plugins} LIBRARY DESTINATION lib/ablate/plugins)
