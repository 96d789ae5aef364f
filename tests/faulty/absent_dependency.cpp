// A library that a plugin needs and that no loader finds, because its folder is in no search path.
__attribute__((visibility("default"))) int from_the_absent_library() { return 1; }
