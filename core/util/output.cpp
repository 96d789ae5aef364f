#include "core/util/output.h"

namespace ablate {

bool write_text(std::FILE* to, std::string_view text) noexcept {
  const bool all = std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
  if (!all) std::clearerr(to);  // the next text is tried anew: a disk may have space again
  return all;
}

}  // namespace ablate
