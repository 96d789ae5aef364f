#include "core/trial/server/kept_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ablate {

void KeptOutput::take(std::string_view piece) {
  bytes_ += static_cast<std::int64_t>(piece.size());
  tail_ += piece;
  if (bytes_ > static_cast<std::int64_t>(kTail) && !file_.empty()) write(in_file_ == 0 ? std::string_view(tail_) : piece);
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
}

void KeptOutput::write(std::string_view piece) {
  piece = piece.substr(0, static_cast<std::size_t>(std::clamp<std::int64_t>(kMostInFile - in_file_, 0, kMostInFile)));
  if (piece.empty() || !unkept_.empty()) return;
  const bool begins = in_file_ == 0;
  std::error_code failed;
  if (begins) std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), failed);
  const int to = open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (begins ? O_CREAT | O_EXCL : 0), 0666);
  int why = to < 0 ? errno : 0;
  while (why == 0 && !piece.empty()) {
    const auto n = ::write(to, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      why = errno;
      break;
    }
    piece.remove_prefix(static_cast<std::size_t>(n));
    in_file_ += n;
  }
  if (to >= 0) close(to);
  if (why == 0) return;
  unkept_ = std::strerror(why);
  if (to >= 0 && in_file_ == 0) unlink(file_.c_str());
}

}  // namespace ablate
