// Texts that `ablate new` writes, embedded from this folder when ablate is built.
#pragma once

#include <string_view>
#include <vector>

namespace ablate {

/// File of a new plugin's folder, written for a plugin called my-method (my_method, MyMethod).
struct Template {
  std::string_view kind;  ///< "attention", ...; "": all kinds; "attention-cuda": for --cuda, replaces files by name
  std::string_view name;  ///< name of the file in the new folder
  std::string_view text;
};

extern const std::vector<Template> kTemplates;

}  // namespace ablate
