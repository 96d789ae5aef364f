# ablate_add_plugin(NAME SOURCES file... [CUDA_SOURCES file...] [TORCH_FREE] [LIBRARIES target...]): a plugin library, NAME.so, with
# NAME as its id. Symbols are hidden. The descriptor has the ABI stamp, the torch version and the digest of the sources.
#
# The link fails if a symbol is undefined or no plugin is exported. Tasks are TORCH_FREE: compiled without torch on the include
# path. CUDA_SOURCES (.cu) are compiled without torch, too: pass them raw pointers and a stream. Without a CUDA toolkit they are
# left out, with a message. If they are compiled, ABLATE_HAS_CUDA_SOURCES is defined in SOURCES. CMAKE_CUDA_ARCHITECTURES selects
# the devices; the default is code that the driver translates for any device.
#
# FIXTURE is for ablate's own tests: the library is not installed, and may be broken.
macro(ablate_add_plugin name)
  # This is a macro, because CMake cannot enable a language inside a function.
  set(_ablate_arguments ${ARGN})
  if("CUDA_SOURCES" IN_LIST _ablate_arguments)
    _ablate_enable_cuda()
  endif()
  _ablate_add_plugin(${name} ${ARGN})
endmacro()

# Sets ABLATE_NVCC to the path of CUDA's compiler. tools/setup --cuda installs the compiler into one of the last two folders.
macro(_ablate_find_nvcc)
  find_program(ABLATE_NVCC nvcc PATHS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin /opt/cuda/bin
               $ENV{XDG_CACHE_HOME}/ablate/cuda/bin $ENV{HOME}/.cache/ablate/cuda/bin)
  mark_as_advanced(ABLATE_NVCC)
endmacro()

macro(_ablate_enable_cuda)
  if(NOT CMAKE_CUDA_COMPILER_LOADED)
    if(NOT DEFINED ENV{CUDACXX})
      _ablate_find_nvcc()
      if(ABLATE_NVCC)
        set(ENV{CUDACXX} ${ABLATE_NVCC})
      endif()
    endif()
    # Unsets a NOTFOUND that check_language cached (type FILEPATH): a compiler may be there now. A user's NOTFOUND stays.
    get_property(_ablate_cuda_type CACHE CMAKE_CUDA_COMPILER PROPERTY TYPE)
    if(DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER AND _ablate_cuda_type STREQUAL "FILEPATH")
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
    endif()
  endif()
endmacro()

# ablate_add_kernel_test(NAME SOURCES file... CUDA_SOURCES file...): adds a ctest that runs CUDA sources on a CPU and needs no
# toolkit or device. The sources are compiled as C++ after ablate/cuda/shim.h, which runs the threads (ablate/cuda/block.h).
function(ablate_add_kernel_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;CUDA_SOURCES")
  if(NOT arg_SOURCES OR NOT arg_CUDA_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ablate_add_kernel_test(${name} ${ARGN}): expected SOURCES file... and CUDA_SOURCES file...")
  endif()
  add_executable(${name} ${arg_SOURCES})
  _ablate_on_shim(${name} ${arg_CUDA_SOURCES})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# Adds CUDA sources to a target as C++. Generated files include the sources, because CMake compiles a source in only one language
# per folder, and a plugin in the same folder compiles these sources for its device.
function(_ablate_on_shim target)
  foreach(source IN LISTS ARGN)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME)
    set(on_cpu ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/${name}.cpp)
    file(CONFIGURE OUTPUT ${on_cpu} CONTENT "#include \"ablate/cuda/shim.h\"\n#include \"${path}\"\n")
    target_sources(${target} PRIVATE ${on_cpu})
  endforeach()
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
  target_link_libraries(${target} PUBLIC ablate::sdk ablate::cuda_shim)
endfunction()

function(_ablate_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH_FREE;FIXTURE" "" "SOURCES;CUDA_SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "ablate_add_plugin(${name}): no SOURCES")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ablate_add_plugin(${name}): found ${arg_UNPARSED_ARGUMENTS}, "
                        "expected SOURCES, CUDA_SOURCES, LIBRARIES or TORCH_FREE")
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE ablate::sdk ${arg_LIBRARIES})
  if(TARGET ablate_warnings)
    target_link_libraries(${name} PRIVATE ablate_warnings)
  endif()
  target_compile_definitions(${name} PRIVATE ABLATE_TORCH_VERSION="${LIBTORCH_VERSION}")
  # Symbols of static LIBRARIES are hidden, because two plugins may use two releases of a library.
  target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,--exclude-libs,ALL)
  # Links the libraries that the SDK's library for tasks needs (libarchive, ...) only into plugins that use them.
  target_link_libraries(${name} PRIVATE ablate::sdk_task)
  target_link_options(${name} PRIVATE -Wl,--as-needed)
  if(NOT arg_FIXTURE)
    target_link_options(${name} PRIVATE -Wl,--require-defined=ablate_plugin -Wl,--require-defined=ablate_abi)
  endif()
  if(arg_TORCH_FREE)
    target_link_options(${name} PRIVATE -Wl,--no-allow-shlib-undefined)
  else()
    target_link_libraries(${name} PRIVATE ablate::sdk_torch ablate::torch)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON)
  if(arg_CUDA_SOURCES AND CMAKE_CUDA_COMPILER)
    _ablate_add_cuda(${name} ${arg_CUDA_SOURCES})
  elseif(arg_CUDA_SOURCES)
    message(STATUS "${name}: no CUDA toolkit was found (nvcc; set CUDACXX to it): built without ${arg_CUDA_SOURCES}")
  endif()
  _ablate_identity(${name})
  if(TARGET ablate_plugins AND NOT arg_FIXTURE)  # ablate's own tree
    add_dependencies(ablate_plugins ${name})
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/ablate/plugins)
  endif()
endfunction()

# ablate-identity launches the compiler and the linker of a target, and writes into the library a digest of our files that the
# two programs read. The identity thus always matches the library. The digest covers the code of sources and included headers
# (also the SDK's) without comments and white space, options and definitions of both programs, and other linked objects and
# libraries. It leaves out paths, warnings, debug information, the compiler, and files in system folders or in torch's folders.
function(_ablate_identity name)
  set(project ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.identity)
  get_target_property(sdk ablate::sdk INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(program ablate::identity IMPORTED_LOCATION)
  if(NOT program)  # ablate's own tree; CMake 3.25 accepts no generator expression as a linker's launcher
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ablate-identity)
    add_dependencies(${name} ablate-identity)
  endif()
  set(system ${LIBTORCH_ROOT} ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES} ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES}
             ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES})
  # CMake reports folders of these variables as the compiler's own, but they are not the system's: the digest must cover them.
  string(REPLACE ":" ";" environment "$ENV{CPATH}:$ENV{CPLUS_INCLUDE_PATH}:$ENV{LIBRARY_PATH}")
  list(REMOVE_ITEM system ${environment})
  list(TRANSFORM system PREPEND "system ")
  list(JOIN system "\n" system)
  file(GENERATE OUTPUT ${project} CONTENT "sdk ${sdk}\nsource ${CMAKE_SOURCE_DIR}\nbuild ${CMAKE_BINARY_DIR}\ncompiler ${CMAKE_C_COMPILER}
compiler ${CMAKE_CXX_COMPILER}\ncompiler ${CMAKE_CUDA_COMPILER}\narchive $<TARGET_FILE:ablate::sdk_torch>
archive $<TARGET_FILE:ablate::sdk_task>\n${system}\n")
  foreach(step C_COMPILER CXX_COMPILER CUDA_COMPILER CXX_LINKER)
    set(launcher ${program} ${project} ${CMAKE_${step}_LAUNCHER})
    set_target_properties(${name} PROPERTIES ${step}_LAUNCHER "${launcher}")
  endforeach()
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${program})
endfunction()

# Compiles CUDA sources as separate objects, without torch's headers on their include path. CUDA's runtime is linked statically, so that
# the plugin also loads without CUDA. The runtime shares torch's context on the device.
function(_ablate_add_cuda name)
  add_library(${name}-cuda OBJECT ${ARGN})
  target_compile_options(${name}-cuda PRIVATE -std=c++20)  # CMake 3.25 does not know that nvcc supports it
  target_link_libraries(${name}-cuda PRIVATE ablate::sdk)
  set_target_properties(${name}-cuda PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_COMPILE_COMMANDS ON CUDA_VISIBILITY_PRESET hidden
                        VISIBILITY_INLINES_HIDDEN ON CUDA_RUNTIME_LIBRARY Static)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:${name}-cuda>)
  set_target_properties(${name} PROPERTIES CUDA_RUNTIME_LIBRARY Static LINKER_LANGUAGE CXX)  # CMake has no launcher for nvcc as a linker
  _ablate_identity(${name}-cuda)
  target_compile_definitions(${name} PRIVATE ABLATE_HAS_CUDA_SOURCES)
endfunction()
