#include "folder.h"

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>

namespace ablate::image {
namespace {

namespace fs = std::filesystem;

struct Known {
  const char* name;
  const char* remedy;
};

constexpr const char* kCifar = "cifar10";

constexpr Known kKnown[] = {
    {"fashion-mnist", "apt-get install dataset-fashion-mnist, or set ABLATE_DATA to a folder with fashion-mnist in it"},
    {kCifar,
     "set ABLATE_DATA to a folder with cifar10 in it: the .bin files of cifar-10-binary.tar.gz from "
     "https://www.cs.toronto.edu/~kriz/cifar.html"},
};

bool is_batch(const fs::path& path) {
  return fs::exists(path) && !fs::is_directory(path) && (path.extension() == ".gz" ? path.stem() : path).extension() == ".bin";
}

/// data is this data set's name, or below it.
bool is_of(const std::string& data, const std::string& known) { return data == known || data.starts_with(known + "/"); }

fs::path find_data(const std::string& data) {
  for (const auto& known : kKnown) {
    if (!is_of(data, known.name)) continue;
    std::vector<fs::path> tried;
    if (const char* root = std::getenv("ABLATE_DATA"); root != nullptr && *root != '\0') tried.push_back(fs::path(root) / data);
    tried.push_back(fs::path("/usr/share/datasets") / data);
    std::string list;
    for (const auto& path : tried) {
      if (fs::is_directory(path)) return path;
      for (const char* ending : {"", ".gz"})
        if (const fs::path batch = path.string() + ending; is_batch(batch)) return batch;
      list += (list.empty() ? "" : ", ") + path.string();
    }
    throw std::runtime_error("image: " + data + " was not found; looked for " + list + ". " + known.remedy);
  }
  if (fs::is_directory(data) || is_batch(data)) return data;
  throw std::runtime_error("image: data = \"" + data + "\" is " + (fs::exists(data) ? "a file and no folder" : "no folder") +
                           "; expected one, a batch of CIFAR-10 (.bin, plain or gzipped), or a name: fashion-mnist, cifar10 (a "
                           "relative folder is looked for in " +
                           fs::current_path().string() + ")");
}

/// A file of the folder under one of the names, plain or gzipped; without one, the names go to the list of what is missing.
void find(const fs::path& folder, std::initializer_list<std::string> names, std::vector<fs::path>& found,
          std::string& missing) {
  std::string all;
  for (const auto& name : names) {
    for (const char* ending : {"", ".gz"})
      if (auto path = folder / (name + ending); fs::exists(path)) {
        found.push_back(std::move(path));
        return;
      }
    all += (all.empty() ? "" : " or ") + name;
  }
  missing += (missing.empty() ? "" : ", ") + all;
}

}  // namespace

Folder find_files(const std::string& data, bool in_colour) {
  const auto folder = find_data(data);
  if (!fs::is_directory(folder)) return {Format::kCifar, {folder}, {}};
  Folder idx{Format::kIdx, {}, {}}, cifar{Format::kCifar, {}, {}};
  std::string no_idx, no_cifar;
  find(folder, {"train-images-idx3-ubyte"}, idx.train, no_idx);
  find(folder, {"train-labels-idx1-ubyte"}, idx.train, no_idx);
  find(folder, {"t10k-images-idx3-ubyte", "test-images-idx3-ubyte"}, idx.test, no_idx);
  find(folder, {"t10k-labels-idx1-ubyte", "test-labels-idx1-ubyte"}, idx.test, no_idx);
  for (int batch = 1; batch <= 5; ++batch)
    find(folder, {"data_batch_" + std::to_string(batch) + ".bin"}, cifar.train, no_cifar);
  find(folder, {"test_batch.bin"}, cifar.test, no_cifar);
  const bool has_idx = no_idx.empty(), has_cifar = no_cifar.empty();
  // Where there are batches, or should be, colour is meant.
  const bool colour = in_colour && (is_of(data, kCifar) || !cifar.train.empty() || !cifar.test.empty());
  if (has_idx && !colour) return idx;
  if (has_cifar) return cifar;
  if (has_idx)
    throw std::runtime_error("image: objective = \"density\" is of the colours of CIFAR-10, and " + folder.string() +
                             " holds idx files, which are grey, but not all of the binary form. Missing: " + no_cifar +
                             ". Put them there, plain or ending in .gz, or name one batch that is there (data = \"" + data +
                             "/test_batch.bin\")");
  throw std::runtime_error("image: " + folder.string() + " holds no whole data set. Missing for the idx form: " + no_idx +
                           ". Missing for CIFAR-10's binary form: " + no_cifar +
                           ". Each may be plain or end in .gz; put the missing files there");
}

}  // namespace ablate::image
