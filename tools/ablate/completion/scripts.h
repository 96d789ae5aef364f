// The scripts of `ablate completion`.
#pragma once

#include <string>
#include <vector>

namespace ablate {

struct CompletionScript {
  std::string shell;
  std::string text;
};

const std::vector<CompletionScript>& completion_scripts();

}  // namespace ablate
