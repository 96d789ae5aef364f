// What of a C++ or CUDA file counts as code. Torch-free.
#pragma once

#include <string>
#include <string_view>

namespace ablate::identity {

/// Returns a file's text without comments, without the white space that no compiler minds, and without the path of an #include
/// that is absolute, as a unity build writes it. Never throws: a file in another language has a text, too.
std::string read_code(std::string_view file);

}  // namespace ablate::identity
