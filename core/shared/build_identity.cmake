# cmake -DSOURCE=folder of core -DOUT=file -P: writes the source of build_identity.h, with the digest of all that a worker, and what goes through its
# pipe, is made of; only where it is another one, so that nothing is compiled for it in vain. The host's own sources change no message.
cmake_minimum_required(VERSION 3.25)
set(all "")
foreach(part kernels records registry sdk shared trial util)
  file(GLOB_RECURSE files RELATIVE ${SOURCE} ${SOURCE}/${part}/*.h ${SOURCE}/${part}/*.cpp ${SOURCE}/${part}/*.cu)
  foreach(file ${files})
    file(SHA256 ${SOURCE}/${file} digest)
    string(APPEND all "${file} ${digest}\n")
  endforeach()
endforeach()
string(SHA256 identity "${all}")
string(SUBSTRING ${identity} 0 16 identity)
file(CONFIGURE OUTPUT ${OUT} CONTENT [=[
#include "core/shared/build_identity.h"

std::string ablate::build_identity() { return "@identity@"; }
]=] @ONLY)
