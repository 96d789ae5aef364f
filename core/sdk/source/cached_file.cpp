#include "ablate/cached_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "ablate/digest.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

Digest::Sum sum_of(const std::vector<std::uint8_t>& content) { return Digest().add(content.data(), content.size()).sum(); }

/// Throws std::runtime_error where it is no file that write() has written.
Cached read(const fs::path& path) {
  if (!fs::is_regular_file(path)) throw std::runtime_error("it is not a regular file");  // another may have no end
  Digest::Sum stored{};
  const auto bytes = fs::file_size(path);
  if (bytes < stored.size()) throw std::runtime_error("it has " + std::to_string(bytes) + " bytes, fewer than a checksum");
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> content(bytes - stored.size());
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  file.read(reinterpret_cast<char*>(stored.data()), stored.size());
  if (!file) throw std::runtime_error(std::string("it cannot be read: ") + std::strerror(errno));
  if (stored != sum_of(content)) throw std::runtime_error("its content does not agree with its checksum");
  return {std::move(content), to_hex(stored)};
}

/// Throws std::runtime_error.
void write(const fs::path& path, const std::vector<std::uint8_t>& content, const Digest::Sum& sum) {
  auto temporary = path;
  temporary += "." + std::to_string(getpid()) + ".tmp";
  fs::create_directories(path.parent_path());
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  file.write(reinterpret_cast<const char*>(sum.data()), sum.size());
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
  if (fs::exists(path, unknown)) try {
      return read(path);
    } catch (const std::exception& fault) {
      std::cerr << name << ": " << path.string() << " is damaged (" << fault.what() << "): making it anew\n";
    }
  auto content = make();
  const auto sum = sum_of(content);
  try {
    write(path, content, sum);
  } catch (const std::exception& error) {  // The data are there: only the next trial has to wait again.
    std::cerr << name << ": the generated data cannot be cached: " << error.what() << '\n';
  }
  return {std::move(content), to_hex(sum)};
}

}  // namespace ablate
