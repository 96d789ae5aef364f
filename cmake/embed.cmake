# ablate_embed(SOURCES HEADER NAME [file...]): appends a new C++ file to the list SOURCES. The C++ file defines the
# std::string_view ablate::NAME of HEADER: the texts of all given files in order ("" without files). An edit of one reruns CMake.
function(ablate_embed sources header name)
  set(text "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} part)
    string(APPEND text "${part}")
  endforeach()
  # A copy is made only if the text differs, so that rerunning CMake without an edit recompiles nothing.
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(WRITE ${made}.new "#include \"${header}\"\n\nnamespace ablate {\n\nconst std::string_view ${name} = R\"EMBEDDED(${text})EMBEDDED\";\n\n}  // namespace ablate\n")
  configure_file(${made}.new ${made} COPYONLY)
  set(${sources} ${${sources}} ${made} PARENT_SCOPE)
endfunction()
