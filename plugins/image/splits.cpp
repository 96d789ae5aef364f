#include "splits.h"

#include <algorithm>
#include <numeric>

#include "ablate/digest.h"
#include "ablate/input_file.h"
#include "ablate/parallel.h"
#include "cifar.h"
#include "idx.h"
#include "npz.h"

namespace ablate::image {

int classes_of(const std::vector<std::uint8_t>& labels, const std::filesystem::path& file) {
  std::array<bool, 256> occurs{};
  for (const auto label : labels) occurs[label] = true;
  const int classes = labels.empty() ? 0 : *std::ranges::max_element(labels) + 1;
  const auto missing = std::count(occurs.begin(), occurs.begin() + classes, false);
  const auto found = "found " + std::to_string(labels.size()) + " labels";
  const std::string expected = "; expected labels 0, 1, 2, ... without a gap, at least two";
  if (missing > 0)
    throw FileError(file, found + " up to " + std::to_string(classes - 1) + ", none of them " +
                              std::to_string(std::ranges::find(occurs, false) - occurs.begin()) +
                              (missing > 1 ? " (and " + std::to_string(missing - 1) + " others missing)" : "") + expected);
  if (classes < 2) throw FileError(file, found + (classes == 0 ? "" : ", all of them 0") + expected);
  return classes;
}

Splits read_files(const Folder& files, Colours colours, std::int64_t side, int threads) {
  const bool is_idx = files.format == Format::kIdx, is_npz = files.format == Format::kNpz;
  std::array<Images, 2> both;
  if (files.format == Format::kCifarArchive)
    both = read_cifar_archive(files.train[0], colours);
  else  // read_npz() is parallel itself
    parallel(both.size(), is_npz ? 1 : threads, [&](std::size_t i) {
      const auto& paths = i == 0 ? files.train : files.test;
      both[i] = is_idx ? read_idx(paths[0], paths[1]) : is_npz ? read_npz(paths, threads) : read_cifar(paths, colours);
    });
  for (auto& images : both) pool(images, side);
  Splits splits{std::move(both[0]), std::move(both[1]), {}};
  const auto &train_files = splits.train_files, &test_files = splits.test_files;
  if (train_files.shape != test_files.shape)
    throw FileError(files.test[0], "found pictures of another size than in " + files.train[0].string() + ", expected the same");
  if (colours == Colours::kKept) return splits;  // density needs no labels
  const auto classes = is_idx ? classes_of(train_files.labels, files.train[1]) : kCifarClasses;
  const auto odd = std::ranges::find_if(test_files.labels, [&](int label) { return label >= classes; });
  if (odd != test_files.labels.end())
    throw FileError(files.test.back(), "example " + std::to_string(odd - test_files.labels.begin()) +
                                           " (from 0) has the label " + std::to_string(*odd) +
                                           ", expected one of the training labels 0 to " + std::to_string(classes - 1));
  return splits;
}

void split(Splits& splits, std::int64_t dev, Dev which, std::uint64_t seed) {
  const auto tests = splits.test_files.labels.size(), dev_size = static_cast<std::size_t>(dev);
  splits.places = split_by_seed(splits.train_files.labels.size(), dev_size, tests > 0 ? 0 : dev_size, seed);
  if (which == Dev::kLast)
    for (std::uint32_t first = 0; auto& places : splits.places) {
      std::iota(places.begin(), places.end(), first);
      first += static_cast<std::uint32_t>(places.size());
    }
  if (tests == 0) return;
  splits.places[2].resize(tests);
  std::iota(splits.places[2].begin(), splits.places[2].end(), 0u);
}

std::string digest(const Splits& splits) {
  Digest digest;
  for (const auto* files : {&splits.train_files, &splits.test_files}) {
    std::vector<std::int64_t> shape = {files->shape.rows, files->shape.columns};
    if (files->shape.channels > 1) shape.push_back(files->shape.channels);
    digest.add_column(shape).add_column(files->values).add_column(files->labels);
  }
  for (const auto& places : splits.places) digest.add_column(places);
  return digest.hex();
}

}  // namespace ablate::image
