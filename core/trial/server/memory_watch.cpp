#include "core/trial/server/memory_watch.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/util/bytes_text.h"
#include "core/util/process_memory.h"

namespace ablate {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(1000);
constexpr auto kLongestRest = std::chrono::milliseconds(5000);
constexpr int kRests = 50;  ///< times what a look takes

std::string text_of(std::int64_t bytes) { return bytes_text(static_cast<std::uintmax_t>(std::max<std::int64_t>(0, bytes))); }

}  // namespace

int MemoryWatch::milliseconds_left(Clock::time_point now) const {
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(next_ - now).count()));
}

std::optional<std::int64_t> MemoryWatch::look(pid_t process, Clock::time_point now) {
  if (now < next_) return std::nullopt;
  const auto found = own_memory(process);
  machine_ = look_at_memory();
  const auto took = Clock::now() - now;
  next_ = now + std::clamp<Clock::duration>(kRests * took, kBetweenLooks, limit_ > 0 ? kBetweenLooks : kLongestRest);
  if (found < 0) return std::nullopt;
  bytes_ = found;
  if (told_ >= 0 && std::abs(bytes_ - told_) <= told_ / 16) return std::nullopt;
  told_ = bytes_;
  return bytes_;
}

std::string MemoryWatch::over_text() const {
  if (!is_over()) return "";
  return "it held " + text_of(bytes_) + " of memory of its own, and --memory allows " + text_of(limit_);
}

std::string MemoryWatch::sizes_text() const {
  if (told_ < 0) return "";
  return "; it held " + text_of(bytes_) + " of its own at the last look, when " + text_of(machine_.available_bytes) + " of " +
         text_of(machine_.total_bytes) + " were available";
}

void MemoryWatch::limit_data(std::int64_t bytes) {
  constexpr std::int64_t kSlack = std::int64_t{256} << 20, kTimes = 2;
  const auto now = data_size(getpid());
  if (bytes <= 0 || now < 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  const auto most = static_cast<rlim_t>(now + std::min(bytes, std::int64_t{1} << 60) * kTimes + kSlack);
  limit.rlim_cur = std::min(limit.rlim_max, most);
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace ablate
