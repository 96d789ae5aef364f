# ablate::torch: LibTorch's CPU half. LibTorch's own TorchConfig.cmake stops without a CUDA toolkit, which ablate does not need:
# libtorch_cuda.so is loaded at run time if there is a driver. The user's own LibTorch (CMAKE_PREFIX_PATH) comes first, then the
# LibTorch that tools/setup stored in the cache.
if(DEFINED ENV{XDG_CACHE_HOME})
  set(_cache $ENV{XDG_CACHE_HOME})
else()
  set(_cache $ENV{HOME}/.cache)
endif()
find_path(LIBTORCH_INCLUDE_DIR torch/csrc/api/include/torch/torch.h PATH_SUFFIXES include
          HINTS ${LIBTORCH_HINTS} PATHS ${_cache}/ablate/libtorch/torch NO_CMAKE_SYSTEM_PATH)
get_filename_component(LIBTORCH_ROOT "${LIBTORCH_INCLUDE_DIR}" DIRECTORY)
if(NOT LIBTORCH_INCLUDE_DIR OR NOT EXISTS ${LIBTORCH_ROOT}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "LibTorch was not found: looked in CMAKE_PREFIX_PATH and ${_cache}/ablate/libtorch. "
                      "Run tools/setup, which fetches it, or set CMAKE_PREFIX_PATH to your own.")
endif()

foreach(_header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)  # newer, older releases
  if(NOT LIBTORCH_VERSION AND EXISTS ${LIBTORCH_ROOT}/include/${_header})
    file(STRINGS ${LIBTORCH_ROOT}/include/${_header} _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" _numbers "${_lines}")
    list(JOIN _numbers "." LIBTORCH_VERSION)
  endif()
endforeach()
if(NOT LIBTORCH_VERSION)
  message(FATAL_ERROR "no TORCH_VERSION in the headers of ${LIBTORCH_ROOT}")
endif()
message(STATUS "LibTorch ${LIBTORCH_VERSION}: ${LIBTORCH_ROOT}")

if(NOT TARGET ablate::torch)  # a project may call find_package(ablate) in several of its folders
  foreach(_name c10 torch_cpu)
    add_library(ablate_libtorch_${_name} SHARED IMPORTED GLOBAL)
    set_target_properties(ablate_libtorch_${_name} PROPERTIES IMPORTED_LOCATION ${LIBTORCH_ROOT}/lib/lib${_name}.so)
  endforeach()
  add_library(ablate_torch INTERFACE)
  add_library(ablate::torch ALIAS ablate_torch)
  target_include_directories(ablate_torch SYSTEM INTERFACE ${LIBTORCH_ROOT}/include ${LIBTORCH_ROOT}/include/torch/csrc/api/include)
  target_link_libraries(ablate_torch INTERFACE ablate_libtorch_torch_cpu ablate_libtorch_c10)
  # Dependencies of libtorch_cpu.so are found through its own RPATH, not by the linker.
  target_link_options(ablate_torch INTERFACE -Wl,--allow-shlib-undefined -Wl,--unresolved-symbols=ignore-in-shared-libs)
endif()
