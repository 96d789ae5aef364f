// Code of a C++ or CUDA file, without the text that compilers ignore. Torch-free.
#pragma once

#include <string>
#include <string_view>

namespace ablate::identity {

/// Returns a file's text without comments, without white space that compilers ignore, and without absolute paths of #include,
/// which unity builds write. Never throws: a file in another language has a text, too.
std::string read_code(std::string_view file);

}  // namespace ablate::identity
