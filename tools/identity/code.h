// What of a C++ or CUDA file counts as code: its tokens. Torch-free.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::identity {

struct Include {
  std::string name;        ///< as written; "" where a macro says it
  bool is_quoted = false;  ///< "name", looked for beside the file too
  bool is_next = false;    ///< of #include_next: never the file itself
};

struct Code {
  /// Without comments, and without white space that no compiler minds: where lines end matters in directives, a space before a
  /// macro's parenthesis, and all of a literal. (What a macro makes into text counts without its spaces.) An include by an
  /// absolute path, as a unity build writes it, stands without it.
  std::string tokens;
  std::vector<Include> includes;  ///< in their order, of all branches of #if
};

/// Never throws: what is no C++ has tokens too.
Code read_code(std::string_view text);

}  // namespace ablate::identity
