#include "core/host/study/toml_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/host/study/study.h"

namespace ablate {
namespace {

[[noreturn]] void cannot_read(const std::filesystem::path& file, const std::string& why) {
  std::vector<Diagnostic> diagnostics(1);
  diagnostics[0].where.file = file.string();
  diagnostics[0].message = "cannot be read: " + why;
  throw ConfigError(std::move(diagnostics));
}

constexpr std::size_t kMostBytes = 4 << 20;  ///< a study of 100,000 points takes far less

}  // namespace

std::string read_toml(const std::filesystem::path& file, const std::string& what) {
  struct Opened {
    int number;
    ~Opened() {
      if (number >= 0) close(number);
    }
  };
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const Opened in{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (in.number < 0 || fstat(in.number, &status) != 0) cannot_read(file, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) cannot_read(file, "it is a folder; expected " + what + " in TOML");
  if (!S_ISREG(status.st_mode)) cannot_read(file, "it is no regular file; expected " + what + " in TOML");
  std::string text(kMostBytes + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto some = read(in.number, text.data() + size, text.size() - size);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) cannot_read(file, std::strerror(errno));
    if (some == 0) break;
    size += static_cast<std::size_t>(some);
    if (size > kMostBytes) cannot_read(file, fmt::format("it is longer than {} MiB; is it {}?", kMostBytes >> 20, what));
  }
  text.resize(size);
  if (text.starts_with("\x1f\x8b")) cannot_read(file, "it is a gzip file; expected " + what + " in TOML, unpacked (gunzip)");
  return text;
}

}  // namespace ablate
