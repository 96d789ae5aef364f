# Joins test files to one source: first the includes of all files, then each file in its own namespace. In the namespace the
# includes have no effect, because each header is included only once. A file's includes must precede its first line of code.
FNR == 1 { leading = 1; bodies = bodies sprintf("namespace file_%d {\n#include \"%s\"\n}\n", ++files, FILENAME) }
/^[^#\/]/ { leading = 0 }
leading && /^#/ { print > joined }
END { printf "%s", bodies > joined }
