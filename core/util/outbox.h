// Buffer for text to a pipe that cannot take all of it at once.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

namespace ablate {

/// Stores text that the pipe has not taken. The written part is removed when it is longer than the rest. A long backlog is then
/// moved only a few times, even if the pipe takes little at a time.
class Outbox {
 public:
  void add(std::string_view text) { text_ += text; }

  /// Writes as much as the pipe takes now; does not block. Returns false if the pipe has no reader: all text is dropped.
  bool flush(int pipe) {
    while (!empty()) {
      const auto n = write(pipe, text_.data() + written_, size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return true;
      if (n < 0) return text_.clear(), written_ = 0, false;
      written_ += static_cast<std::size_t>(n);
      if (written_ < text_.size() - written_) continue;
      text_.erase(0, written_);
      written_ = 0;
    }
    return true;
  }

  bool empty() const { return size() == 0; }
  std::size_t size() const { return text_.size() - written_; }  ///< bytes not written yet

 private:
  std::string text_;
  std::size_t written_ = 0;
};

}  // namespace ablate
