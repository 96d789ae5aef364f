# cmake -DSOURCE=folder of core -DOUT=file -P: writes the source of build_identity.h, with a digest of the sources of workers
# and of their messages. Writes only if the digest changed, so that nothing is compiled again without need. Sources that only
# the host uses (core/host) are left out, because they change no message.
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
