#include "text.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace ablate::lm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"enwik8", "enwik8.gz", "enwik8_first10M", "enwik8_first10M.gz"};
constexpr std::size_t kPiece = std::size_t{1} << 22;

}  // namespace

fs::path find_text(const std::string& data) {
  if (data != "enwik8") {
    if (fs::exists(data)) return data;
    throw std::runtime_error("lm: data = \"" + data + "\" is no file; expected one, or the name enwik8 (a relative path is " +
                             "looked for in " + fs::current_path().string() + ")");
  }
  std::vector<fs::path> folders;
  if (const char* root = std::getenv("ABLATE_DATA"); root != nullptr && *root != '\0') folders.push_back(fs::path(root) / data);
  folders.push_back(fs::path("/usr/share/datasets") / data);
  std::string list;
  for (const auto& folder : folders) {
    for (const auto* name : kNames)
      if (fs::exists(folder / name)) return folder / name;
    list += (list.empty() ? "" : ", ") + folder.string();
  }
  std::string names;
  for (const auto* name : kNames) names += (names.empty() ? "" : " or ") + std::string(name);
  throw std::runtime_error("lm: enwik8 was not found; looked for " + names + " in " + list +
                           ". Set ABLATE_DATA to a folder with enwik8 in it: the file of enwik8.zip from "
                           "https://mattmahoney.net/dc/textdata.html");
}

std::vector<std::uint8_t> read_text(const fs::path& path, std::int64_t bytes) {
  const auto refuse = [&](const std::string& what) { throw std::runtime_error(path.string() + ": " + what); };
  if (fs::is_directory(path)) refuse("found a folder, expected a file");
  if (!fs::is_regular_file(path)) refuse("is not a regular file, expected one");
  const std::unique_ptr<gzFile_s, decltype(&gzclose)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (file == nullptr) refuse(std::string("cannot be read: ") + std::strerror(errno));
  std::vector<std::uint8_t> text;
  const auto wanted = static_cast<std::size_t>(bytes);
  // Piece by piece, so that a number of bytes that the file does not have takes no memory.
  while (wanted == 0 || text.size() < wanted) {
    const auto before = text.size(), piece = wanted == 0 ? kPiece : std::min(kPiece, wanted - before);
    text.resize(before + piece);
    const int got = gzread(file.get(), text.data() + before, static_cast<unsigned>(piece));
    int code = Z_OK;
    const char* reason = gzerror(file.get(), &code);
    if (code == Z_BUF_ERROR) refuse("the gzip stream is cut off; fetch the file again");
    if (got < 0 || code != Z_OK) refuse("cannot be read (" + std::string(reason) + "); fetch the file again");
    text.resize(before + static_cast<std::size_t>(got));
    if (got == 0) break;
  }
  if (text.size() < wanted)
    refuse("found " + std::to_string(text.size()) + " bytes, expected bytes = " + std::to_string(wanted) +
           " or more; make bytes smaller, or 0 for all");
  return text;
}

std::string sha256(const std::vector<std::uint8_t>& bytes) {
  std::array<unsigned char, 32> sum{};
  if (EVP_Digest(bytes.data(), bytes.size(), sum.data(), nullptr, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("lm: libcrypto failed to compute a SHA-256");
  std::string text;
  for (const auto byte : sum) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace ablate::lm
