// Makes tasks as the host does, and makes files for tasks to read.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/registry/library.h"
#include "core/registry/plugin_info.h"
#include "core/registry/values.h"
#include "tests/support/skip.h"
#include "tests/support/temporary.h"

namespace ablate::tests {

namespace fs = std::filesystem;

inline fs::path plugin_folder() { return fs::path(ABLATE_BUILD_DIR) / "lib/ablate/plugins"; }

/// Returns a plugin's default values with `changes` applied. The changes are checked as the host checks them.
inline nlohmann::json resolve(const PluginInfo& plugin, const nlohmann::json& changes) {
  nlohmann::json section;
  for (const auto& parameter : plugin.parameters) section[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : changes.items()) {
    const auto* parameter = plugin.find(name);
    if (parameter == nullptr) throw std::runtime_error(plugin.id + " has no parameter " + name);
    const auto checked = check_value(*parameter, value);
    if (!checked.ok()) throw std::runtime_error(name + ": expected " + checked.expected);
    section[name] = checked.value;
  }
  return section;
}

inline std::unique_ptr<Task> make_task(const Descriptor& plugin, const nlohmann::json& changes, const fs::path& cache,
                                       int threads = 2) {
  const auto info = describe(plugin);
  const JsonValues values({info.id, resolve(info, changes)}, info);
  return plugin.make_task({values, cache, threads});
}
inline std::unique_ptr<Task> make_task(const std::string& id, const nlohmann::json& changes, const fs::path& cache,
                                       int threads = 2) {
  return make_task(load_library(plugin_folder() / (id + ".so")), changes, cache, threads);
}
inline std::unique_ptr<Task> load_task(const std::string& id, const nlohmann::json& changes, const fs::path& cache,
                                       int threads = 2) {
  auto task = make_task(id, changes, cache, threads);
  task->info();
  task->load();
  return task;
}

/// Example of a task whose input is one sequence of ids, and whose target is a class.
struct Example {
  std::vector<std::int64_t> ids;  ///< present ids, which come first
  std::int64_t label;
  bool operator==(const Example&) const = default;
  bool operator<(const Example& other) const { return std::tie(ids, label) < std::tie(other.ids, other.label); }
};

/// Reads the first `count` examples of a split (negative: all) in one batch. Prepares the memory as the host does.
inline std::vector<Example> read_examples(Task& task, Split split, std::int64_t count = -1) {
  if (count < 0) count = task.size(split);
  const auto length = static_cast<std::size_t>(task.info().length), n = static_cast<std::size_t>(count);
  std::vector<std::int64_t> ids(n * length, 0), targets(n, -1), indices(n);
  std::vector<std::uint8_t> present(n * length, 1);
  for (std::size_t i = 0; i < n; ++i) indices[i] = static_cast<std::int64_t>(i);
  task.read(split, indices,
            {.length = task.info().length,
             .ids = {ids},
             .reals = std::vector<std::span<float>>(1),
             .present = {present},
             .targets = targets});
  std::vector<Example> examples(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = std::span(present).subspan(i * length, length);
    const auto tokens = std::ranges::find(row, 0) - row.begin();
    REQUIRE(std::ranges::count(row, 1) == tokens);
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(i * length);
    examples[i] = {{begin, begin + tokens}, targets[i]};
  }
  return examples;
}

/// Returns the message of the exception that the call throws. Fails the test if the call throws nothing.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  FAIL("no exception was thrown");
  return "";
}

/// Checks that every text occurs in the message.
inline void check_mentions(const std::string& message, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    INFO("message: " << message << "\nexpected to mention: " << text);
    CHECK(message.find(text) != std::string::npos);
  }
}

using Bytes = std::vector<std::uint8_t>;

inline Bytes read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// Writes bytes, gzipped if the path ends in .gz.
inline void write_bytes(const fs::path& path, const Bytes& bytes) {
  const bool zip = path.extension() == ".gz";
  const auto file = gzopen(path.c_str(), zip ? "wb" : "wbT");
  REQUIRE(file != nullptr);
  if (!bytes.empty())
    REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
}
inline void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

inline void append_number(Bytes& to, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::uint8_t>(number >> shift));
}
inline Bytes idx_images(std::uint32_t rows, std::uint32_t columns, const std::vector<Bytes>& pictures) {
  Bytes file;
  append_number(file, 0x803);
  append_number(file, static_cast<std::uint32_t>(pictures.size()));
  append_number(file, rows);
  append_number(file, columns);
  for (const auto& picture : pictures) file.insert(file.end(), picture.begin(), picture.end());
  return file;
}
inline Bytes idx_labels(const Bytes& labels) {
  Bytes file;
  append_number(file, 0x801);
  append_number(file, static_cast<std::uint32_t>(labels.size()));
  file.insert(file.end(), labels.begin(), labels.end());
  return file;
}

inline std::vector<Bytes> random_pictures(std::size_t count, std::size_t pixels, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Bytes> pictures(count, Bytes(pixels));
  for (auto& picture : pictures)
    for (auto& pixel : picture) pixel = static_cast<std::uint8_t>(random() >> 24);
  return pictures;
}

/// Small data set of idx files: 60 training and 20 test pictures, random, of 4 x 6 pixels. Picture i has the label i % 3.
struct IdxFolder {
  TemporaryFolder folder;
  std::vector<Bytes> train = random_pictures(60, 24, 1), test = random_pictures(20, 24, 2);

  explicit IdxFolder(const std::string& ending = "") {
    const auto labels = [](std::size_t count) {
      Bytes all(count);
      for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::uint8_t>(i % 3);
      return idx_labels(all);
    };
    write_bytes(folder.path() / ("train-images-idx3-ubyte" + ending), idx_images(4, 6, train));
    write_bytes(folder.path() / ("train-labels-idx1-ubyte" + ending), labels(60));
    write_bytes(folder.path() / ("t10k-images-idx3-ubyte" + ending), idx_images(4, 6, test));
    write_bytes(folder.path() / ("t10k-labels-idx1-ubyte" + ending), labels(20));
  }
  std::string path() const { return folder.path().string(); }
};

/// Sets $ABLATE_DATA while this object exists.
class DataFolder {
 public:
  explicit DataFolder(const fs::path& folder) {
    if (const char* before = std::getenv("ABLATE_DATA")) before_ = before;
    setenv("ABLATE_DATA", folder.c_str(), 1);
  }
  ~DataFolder() { before_ ? setenv("ABLATE_DATA", before_->c_str(), 1) : unsetenv("ABLATE_DATA"); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

 private:
  std::optional<std::string> before_;
};

/// Returns $ABLATE_DATA/NAME. If this folder is missing, skips the test and returns an empty path.
inline fs::path real_data(const std::string& name) {
  const char* root = std::getenv("ABLATE_DATA");
  if (root != nullptr && fs::is_directory(fs::path(root) / name)) return fs::path(root) / name;
  skip("needs the real data " + name + "; ABLATE_DATA is " + (root != nullptr ? root : "not set"));
  return {};
}

}  // namespace ablate::tests
