# find_package(ablate) from the build tree and from an install prefix.
include(GNUInstallDirs)

set(ABLATE_SDK_LOCATION ${PROJECT_SOURCE_DIR}/core/sdk/include)
set(ABLATE_MODULES_LOCATION ${PROJECT_SOURCE_DIR}/cmake)
configure_file(cmake/ablateConfig.cmake.in ${CMAKE_BINARY_DIR}/ablateConfig.cmake @ONLY)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/ablate)
file(RELATIVE_PATH ABLATE_SDK_LOCATION /${_package} /${CMAKE_INSTALL_INCLUDEDIR})
set(ABLATE_MODULES_LOCATION .)
configure_file(cmake/ablateConfig.cmake.in ${CMAKE_BINARY_DIR}/install/ablateConfig.cmake @ONLY)

install(FILES ${CMAKE_BINARY_DIR}/install/ablateConfig.cmake cmake/LibTorch.cmake cmake/AblatePlugin.cmake DESTINATION ${_package})
install(DIRECTORY core/sdk/include/ablate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS ablate ablate-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
get_property(_plugins TARGET ablate_plugins PROPERTY MANUALLY_ADDED_DEPENDENCIES)
install(TARGETS ${_plugins} LIBRARY DESTINATION lib/ablate/plugins)
