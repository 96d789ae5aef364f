#include "core/trial/conformance/task/edited_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "ablate/data_files.h"
#include "core/registry/plugin_info.h"
#include "core/trial/conformance/engine/check.h"
#include "core/trial/conformance/task/opened_files.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// Returns the deepest folder that contains all files.
fs::path common_folder(const std::vector<fs::path>& files) {
  auto folder = fs::canonical(files.front()).parent_path();
  for (const auto& file : files)
    while (*fs::canonical(file).lexically_relative(folder).begin() == "..") folder = folder.parent_path();
  return folder;
}

bool is_gzipped(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x1f && file.get() == 0x8b;
}

/// Returns the content, unpacked if gzipped.
std::string content_of(const fs::path& path) {
  const auto file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path.string() + ": cannot be read");
  std::string content;
  char part[1 << 16];
  int size = 0;
  while ((size = gzread(file, part, sizeof part)) > 0) content.append(part, static_cast<std::size_t>(size));
  if (gzclose(file) != Z_OK || size < 0) throw std::runtime_error(path.string() + ": cannot be read to its end");
  return content;
}

void write(const fs::path& path, const std::string& content, bool gzipped) {
  const auto file = gzopen(path.c_str(), gzipped ? "wb1" : "wbT");
  if (file == nullptr) throw CannotLook(path.string() + ": cannot be written");
  constexpr std::size_t most = 1 << 20;
  bool written = true;
  for (std::size_t at = 0; at < content.size() && written; at += most) {
    const auto size = static_cast<unsigned>(std::min(most, content.size() - at));
    written = gzwrite(file, content.data() + at, size) == static_cast<int>(size);
  }
  if (gzclose(file) != Z_OK || !written) throw CannotLook(path.string() + ": cannot be written, as on a full disk");
}

char other(char c) {
  if (c >= '0' && c <= '9') return c == '9' ? '0' : static_cast<char>(c + 1);
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
    return (c | 0x20) == 'z' ? static_cast<char>(c - 1) : static_cast<char>(c + 1);
  return static_cast<char>(c ^ 1);
}

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns word number `word` of a line, or an empty view at the line's end if there is none.
std::string_view word_of(std::string_view line, std::size_t word) {
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && !is_word(line[at])) ++at;
    const auto begin = at;
    while (at < line.size() && is_word(line[at])) ++at;
    if (at > begin && word-- == 0) return line.substr(begin, at - begin);
  }
  return line.substr(line.size());
}

/// Returns the path that a parameter's value names: the value itself, or a name in one of the data folders.
fs::path place_of(const std::string& value) {
  if (value.empty()) return {};
  for (const auto& folder : data_folders())
    if (fs::exists(folder / value)) return fs::canonical(folder / value);
  return {};
}

}  // namespace

std::optional<EditedFiles> EditedFiles::of(const TaskSubject& subject) {
  EditedFiles edited;
  const auto from = common_folder(subject.files), to = fs::canonical(subject.folder("files"));
  for (const auto& file : subject.files) {
    edited.originals_.push_back(fs::canonical(file));
    edited.copies_.push_back(to / edited.originals_.back().lexically_relative(from));
    on_own_files([&] { return fs::create_directories(edited.copies_.back().parent_path()); });
    edited.restore(edited.copies_.size() - 1);
  }
  const auto cache = subject.folder("cache");
  for (const auto& parameter : describe(subject.candidate.descriptor()).parameters) {
    if ((parameter.type != ParameterType::kText && parameter.type != ParameterType::kFile) || !parameter.choices.empty())
      continue;
    std::vector<fs::path> values = {to, edited.copies_.front()};
    if (const auto place = place_of(subject.candidate.section.at(parameter.name)); is_below(place, from))
      values.insert(values.begin(), (to / place.lexically_relative(from)).lexically_normal());
    for (const auto& value : values) try {
        edited.changes_ = nlohmann::json::object({{parameter.name, value.string()}});
        const auto task = subject.make(1, cache, edited.changes_);
        task->info();
        const auto files = task->files();
        if (files.size() == edited.copies_.size() &&
            std::all_of(files.begin(), files.end(), [&](const auto& file) { return is_below(fs::weakly_canonical(file), to); }))
          return edited;
      } catch (const std::exception&) {  // the task refuses that value, but another one may work
      }
  }
  return {};
}

void EditedFiles::edit(std::size_t file, double share, bool end_of_line) const {
  const auto& path = copies_[file];
  const auto time = fs::last_write_time(path);
  auto content = content_of(path);
  if (content.empty()) return;
  auto at = std::min(static_cast<std::size_t>(share * static_cast<double>(content.size())), content.size() - 1);
  // In a text, changes a character of a word, so that lines and columns stay.
  if (end_of_line) {
    at = std::min(content.find('\n', at), content.size());
    while (at > 0 && !is_word(content[at - 1])) --at;
    at = at > 0 ? at - 1 : 0;
  } else if (const auto word = std::find_if(content.begin() + static_cast<std::ptrdiff_t>(at), content.end(), is_word);
             word != content.end()) {
    at = static_cast<std::size_t>(word - content.begin());
  }
  content[at] = other(content[at]);
  write(path, content, is_gzipped(path));
  fs::last_write_time(path, time);
}

bool EditedFiles::exchange(std::size_t file, std::size_t word) const {
  const auto& path = copies_[file];
  const auto time = fs::last_write_time(path);
  const auto content = content_of(path);
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < content.size();) {
    const auto end = std::min(content.find('\n', begin), content.size());
    lines.push_back(std::string_view(content).substr(begin, end - begin));
    begin = end + 1;
  }
  std::string edited;
  bool changes = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto mate = i == 0 ? 0 : i % 2 == 1 ? i + 1 : i - 1;
    const auto own = word_of(lines[i], word), other = word_of(lines[mate < lines.size() ? mate : i], word);
    const auto at = static_cast<std::size_t>(own.data() - lines[i].data());
    const bool both = !own.empty() && !other.empty();
    changes = changes || (both && own != other);
    edited.append(lines[i].substr(0, at)).append(both ? other : own).append(lines[i].substr(at + own.size())).append("\n");
  }
  if (!changes) return false;
  if (content.back() != '\n') edited.pop_back();
  write(path, edited, is_gzipped(path));
  fs::last_write_time(path, time);
  return true;
}

void EditedFiles::restore(std::size_t file) const {
  on_own_files([&] {
    fs::copy_file(originals_[file], copies_[file], fs::copy_options::overwrite_existing);
    fs::permissions(copies_[file], fs::perms::owner_write, fs::perm_options::add);
    fs::last_write_time(copies_[file], fs::last_write_time(originals_[file]));
  });
}

}  // namespace ablate
