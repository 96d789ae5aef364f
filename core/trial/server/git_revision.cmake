# cmake -DSOURCE=folder -DHEADER=file -P: writes the header with git's description of the revision. Writes only if the
# description changed, so that nothing is compiled again needlessly.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty OUTPUT_VARIABLE git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define ABLATE_GIT \"@git@\"\n" @ONLY)
