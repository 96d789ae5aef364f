#include "tools/ablate/questions/output_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "core/registry/folders.h"
#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "core/util/sha256.h"
#include "db/history/damage.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// A larger file cannot come from ablate.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

/// Returns the file for the hash of an output at a path; "" if the user has no cache folder.
fs::path memory_of(const fs::path& path) {
  const auto cache = cache_folder();
  return cache.empty() ? cache : cache / "written" / sha256(path.string());
}

bool wrote(const fs::path& path) {
  const auto memory = memory_of(path);
  if (memory.empty()) return false;
  std::string kept;
  std::ifstream(memory) >> kept;
  return !kept.empty() && kept == sha256_file(path, kMostBytes);
}

/// Stores the hash of an output. If the hash cannot be stored, the next run only needs --force.
void remember(const fs::path& path) try {
  const auto memory = memory_of(path);
  if (memory.empty()) return;
  std::error_code ignored;
  fs::create_directories(memory.parent_path(), ignored);
  write_anew(memory, sha256_file(path, kMostBytes));
} catch (const Error&) {  // larger than kMostBytes
}

/// Returns why the file at `path` must stay, with the remedy, or "" if it may be replaced.
std::string reason_to_keep(const fs::path& path, const OutputFile& out) {
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (!fs::exists(status))
    return fs::is_symlink(fs::symlink_status(path, failed)) ? "found a link to a missing file, expected the name of a file"
                                                            : "";
  if (!fs::is_regular_file(status))
    return fmt::format("found {}, expected the name of a file", fs::is_directory(status) ? "a folder" : "no regular file");
  const bool forced = out.option == "--out";
  if (db::begins_as_sqlite(path))
    return fmt::format("found a SQLite database, perhaps a run history; expected another file{}",
                       forced ? "; --force does not write over databases" : "");
  if (out.force || wrote(path)) return "";
  return fmt::format("found a file that ablate did not write, or that was changed since; give another name, or {}",
                     forced ? "--force to write over it" : "remove the file");
}

/// Returns the target of a link, so that writing does not replace the link.
fs::path followed(const fs::path& path) {
  std::error_code failed;
  const auto from_root = fs::absolute(path);  // weakly_canonical of a relative path to no file would stay relative
  auto whole = fs::weakly_canonical(from_root, failed);
  return failed ? from_root : whole;
}

}  // namespace

void OutputFile::put(const std::string& text) const {
  put([&](const db::Write& write) { write(text); });
}

void OutputFile::put(const std::function<void(const db::Write& write)>& pieces) const {
  if (path.empty()) {
    pieces([](std::string_view piece) { print("{}", piece); });
    std::fflush(stdout);  // so that lines on stderr come later; end_output reports a failed write
    return;
  }
  put_bytes([&](const db::Write& take) { pieces([&](std::string_view piece) { take(db::printable(piece)); }); });
}

void OutputFile::put_bytes(const std::function<void(const db::Write& write)>& pieces) const {
  const auto to = followed(path);
  if (const auto reason = reason_to_keep(to, *this); !reason.empty())
    throw Error(fmt::format("{} {}: {}", option, path_text(path), reason));
  const auto failed = put_whole(to, [&](const TakePiece& take) { pieces(take); });
  if (failed)
    throw Error(
        fmt::format("{} {}: cannot be written: {}; nothing was changed there", option, path_text(path), failed.message()));
  remember(to);
  say("wrote {}\n", path_text(path));
}

CLI::Option* add_out(CLI::App* command, OutputFile& to) {
  auto* out = command->add_option("--out", to.path, "write the answer to this file; files that ablate did not write stay")
                  ->type_name("FILE")
                  ->check(not_empty());
  command->add_flag("--force", to.force, "overwrite any file that --out names")->needs(out);
  return out;
}

}  // namespace ablate
