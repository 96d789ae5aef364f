#include "ablate/cached_file.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "ablate/digest.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr auto kAbandoned = std::chrono::hours(24);

Digest::Sum sum_of(const std::vector<std::uint8_t>& content) { return Digest().add(content.data(), content.size()).sum(); }

/// Seal behind the content: a hash of the key and of the content's hash, so that a file of another key is not accepted.
Digest::Sum seal_of(const std::string& key, const Digest::Sum& content) {
  return Digest().add(key.data(), key.size()).add(content.data(), content.size()).sum();
}

/// Throws std::runtime_error unless write() wrote the file for this key.
Cached read(const fs::path& path, const std::string& key) {
  if (!fs::is_regular_file(path)) throw std::runtime_error("it is not a regular file");  // other files may never end
  Digest::Sum stored{};
  const auto bytes = fs::file_size(path);
  if (bytes < stored.size()) throw std::runtime_error("it has " + std::to_string(bytes) + " bytes, fewer than a checksum");
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> content(bytes - stored.size());
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  file.read(reinterpret_cast<char*>(stored.data()), stored.size());
  if (!file) throw std::runtime_error(std::string("it cannot be read: ") + std::strerror(errno));
  const auto sum = sum_of(content);
  if (stored != seal_of(key, sum))
    throw std::runtime_error("its content does not agree with its checksum, or belongs to other data");
  return {std::move(content), to_hex(sum)};
}

/// Removes temporary files of killed writers, but not recent ones, whose writers may still be running.
void remove_abandoned(const fs::path& folder, const std::string& name) {
  const auto prefix = name + "-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto file = entry.path().filename().string();
    const auto written = entry.last_write_time(ignored);
    if (!ignored && file.starts_with(prefix) && file.ends_with(".tmp") &&
        fs::file_time_type::clock::now() - written > kAbandoned)
      fs::remove(entry.path(), ignored);
  }
}

/// Throws std::runtime_error if the file cannot be written.
void write(const fs::path& path, const std::vector<std::uint8_t>& content, const Digest::Sum& seal) {
  auto temporary = path;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  fs::create_directories(path.parent_path());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  file.write(reinterpret_cast<const char*>(seal.data()), seal.size());
  file.close();
  std::string fault = file ? "" : "cannot write " + temporary.string() + ": " + std::strerror(errno);
  std::error_code failed, ignored;
  if (fault.empty()) fs::rename(temporary, path, failed);
  if (failed) fault = "cannot be put at " + path.string() + ": " + failed.message();
  if (fault.empty()) return;
  fs::remove(temporary, ignored);
  throw std::runtime_error(fault);
}

}  // namespace

Cached cached(const fs::path& folder, const std::string& name, const std::string& key,
              const std::function<std::vector<std::uint8_t>()>& make) {
  const auto path = folder / (name + "-" + Digest().add(key.data(), key.size()).hex().substr(0, 16) + ".bin");
  std::error_code unknown;
  remove_abandoned(folder, name);
  if (fs::exists(path, unknown)) try {
      return read(path, key);
    } catch (const std::exception& fault) {
      std::cerr << name << ": " << path.string() << " is damaged (" << fault.what() << "): making it anew\n";
    }
  auto content = make();
  const auto sum = sum_of(content);
  try {
    write(path, content, seal_of(key, sum));
  } catch (const std::exception& error) {  // The data are complete, but not stored: the next trial makes them again.
    std::cerr << name << ": the generated data cannot be cached: " << error.what() << '\n';
  }
  return {std::move(content), to_hex(sum)};
}

}  // namespace ablate
