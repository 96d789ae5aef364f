# Compiles several sources together: a cold build spends most of its time in headers (CLI11, nlohmann-json, torch), which each file would
# read again. Do not use it if single object files matter, for example the members of the SDK's library that count in a plugin's identity.
set(ABLATE_UNITY ON CACHE STRING "Compile several sources of a library together: a first build is faster, a rebuild after an edit is slower. \
WHOLE: all sources at once, for sanitizers, which spend more time in headers than in sources")
set_property(CACHE ABLATE_UNITY PROPERTY STRINGS ON OFF WHOLE)
function(ablate_unity target batch)
  if(ABLATE_UNITY STREQUAL WHOLE)
    set(batch 0)
  endif()
  if(ABLATE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()
