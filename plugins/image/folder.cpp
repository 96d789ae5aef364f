#include "folder.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include "ablate/data_files.h"
#include "cifar.h"
#include "npz.h"

namespace ablate::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCifar = "cifar10";
constexpr const char* kCifarArchive = "cifar-10-binary.tar";

bool is_npz(const fs::path& path) { return path.extension() == ".npz"; }
bool is_cifar_archive(const fs::path& path) { return is_file(path) && path.filename().string().starts_with(kCifarArchive); }

bool is_batch(const fs::path& path) {
  return is_file(path) && (is_npz(path) || (path.extension() == ".gz" ? path.stem() : path).extension() == ".bin");
}

/// True if `data` is the data set's name `known`, or a path that begins with this name.
bool is_of(const std::string& data, const std::string& known) { return data == known || data.starts_with(known + "/"); }

/// Returns advice on how to get the data set.
std::string remedy_of(const std::string& data) {
  if (is_of(data, "fashion-mnist")) return "apt-get install dataset-fashion-mnist";
  return std::string("Set ABLATE_DATA to a folder with ") + (is_of(data, "imagenet64")
                                                                 ? "imagenet64 in it, and the three archives in that"
                                                                 : "cifar10/cifar-10-binary.tar.gz in it");
}

bool has_any(const Folder& found) { return !found.train.empty() || !found.test.empty(); }

/// Adds to `found` the first of the named files that exists, plain or gzipped. If none exists, adds the names to `missing`.
void find(const fs::path& folder, std::initializer_list<std::string> names, std::vector<fs::path>& found,
          std::string& missing) {
  std::string all;
  for (const auto& name : names) {
    if (auto path = plain_or_gzipped(folder / name); !path.empty()) {
      found.push_back(std::move(path));
      return;
    }
    all += (all.empty() ? "" : " or ") + name;
  }
  missing += (missing.empty() ? "" : ", ") + all;
}

/// Files that belong together, and the names of the missing files.
struct Some {
  std::vector<fs::path> files;
  std::string missing;
};

/// Returns the named files of the folder in `places` with the most of them (on a tie, the first folder), and the missing names.
template <class Names, class Look>
Some most_of(const fs::path& folder, std::initializer_list<fs::path> places, const Names& names, const Look& look) {
  Some most;
  for (const auto& in : places) {
    Some here;
    for (const auto& name : names)
      if (auto file = look(folder / in / name); !file.empty())
        here.files.push_back(std::move(file));
      else
        here.missing += (here.missing.empty() ? "" : ", ") + (in / name).string();
    if (most.files.empty() || here.files.size() > most.files.size()) most = std::move(here);
  }
  return most;
}

/// Finds CIFAR-10's batches, in the folder or in the subfolder that the archive unpacks to. If some are missing, returns the
/// archive if it exists, otherwise the found batches.
Folder find_cifar(const fs::path& folder, std::string& missing) {
  auto batches = most_of(folder, {"cifar-10-batches-bin", ""}, kCifarBatches, plain_or_gzipped);
  if (batches.missing.empty()) {
    const auto test = std::move(batches.files.back());
    batches.files.pop_back();
    return {Format::kCifar, std::move(batches.files), {test}};
  }
  if (const auto archive = plain_or_gzipped(folder / kCifarArchive); !archive.empty())
    return {Format::kCifarArchive, {archive}, {}};
  missing = batches.missing;
  return {Format::kCifar, std::move(batches.files), {}};
}

/// Finds the npz files of a part of ImageNet, in the folder or in a subfolder named like the part. If some are missing, adds
/// the part's archive if it exists, otherwise the found files.
void find_part(const fs::path& folder, const std::string& part, std::vector<fs::path>& found, std::string& missing) {
  const auto names = batches_of_part(part);
  auto some = most_of(folder, {"", part}, names, [](const fs::path& file) { return is_file(file) ? file : fs::path(); });
  if (some.files.empty()) some.missing = part + ".zip or " + names.front() + (names.size() > 1 ? " to " + names.back() : "");
  if (const auto archive = folder / (part + ".zip"); !some.missing.empty() && is_file(archive)) some = {{archive}, ""};
  found.insert(found.end(), some.files.begin(), some.files.end());
  if (!some.missing.empty()) missing += (missing.empty() ? "" : ", ") + some.missing;
}

Folder find_imagenet(const fs::path& folder, std::string& missing) {
  Folder npz{Format::kNpz, {}, {}};
  for (const auto* part : kImageNetParts)
    find_part(folder, part, part == kImageNetParts.back() ? npz.test : npz.train, missing);
  return npz;
}

/// A form of the data set, and the files that it lacks. The error lists the forms that have at least one file. If no
/// file exists, the error lists all forms.
struct Lack {
  const Folder& found;
  std::string what;
};

std::string to_text(std::initializer_list<Lack> forms) {
  const bool has_none = std::ranges::none_of(forms, [](const Lack& form) { return has_any(form.found); });
  std::string text;
  for (const auto& [found, what] : forms)
    if (has_none || has_any(found)) text += (text.empty() ? "" : "; ") + what;
  return text;
}

}  // namespace

Folder find_files(const std::string& data, Colours colours) {
  const auto folder = find_data("image", data, std::string(kExpected) + ". " + remedy_of(data), [](const fs::path& path) {
    const auto file = plain_or_gzipped(path);
    return fs::is_directory(path) || is_batch(file) || is_cifar_archive(file);
  });
  const bool keeps_colours = colours == Colours::kKept;
  const auto needs_density = [&] {
    return std::runtime_error("image: " + folder.string() +
                              " has ImageNet at 64 x 64, which is only read as density: set objective = \"density\"");
  };
  if (is_npz(folder) && !keeps_colours) throw needs_density();
  if (!fs::is_directory(folder)) {
    const auto file = plain_or_gzipped(folder);
    return {is_npz(file) ? Format::kNpz : is_cifar_archive(file) ? Format::kCifarArchive : Format::kCifar, {file}, {}};
  }
  Folder idx{Format::kIdx, {}, {}};
  std::string no_idx, no_cifar;
  find(folder, {"train-images-idx3-ubyte"}, idx.train, no_idx);
  find(folder, {"train-labels-idx1-ubyte"}, idx.train, no_idx);
  find(folder, {"t10k-images-idx3-ubyte", "test-images-idx3-ubyte"}, idx.test, no_idx);
  find(folder, {"t10k-labels-idx1-ubyte", "test-labels-idx1-ubyte"}, idx.test, no_idx);
  auto cifar = find_cifar(folder, no_cifar);
  const bool has_idx = no_idx.empty(), has_cifar = no_cifar.empty();
  // Density uses colour if a batch of CIFAR-10 exists or `data` names CIFAR-10. TensorFlow's grey is always made from colour.
  const bool colour = colours == Colours::kTensorflowGrey || (keeps_colours && (is_of(data, kCifar) || has_any(cifar)));
  if (has_idx && !colour) return idx;
  if (has_cifar) return cifar;
  std::string no_npz;
  auto npz = find_imagenet(folder, no_npz);
  if (no_npz.empty() && !keeps_colours) throw needs_density();
  if (no_npz.empty()) return npz;
  if (has_idx)
    throw std::runtime_error(
        std::string("image: ") +
        (keeps_colours ? "objective = \"density\" needs the colours of CIFAR-10" : "grey = \"tensorflow\" needs colours") +
        ", and " + folder.string() +
        " holds idx files, which are grey, but not all of CIFAR-10's binary form. Missing: " + no_cifar +
        ". Put them there, plain or ending in .gz, or cifar-10-binary.tar.gz, or name one batch that is there (data = \"" +
        data + "/test_batch.bin\")" + (keeps_colours ? "" : "; or take the files' own grey values: grey = \"rounded\""));
  throw std::runtime_error("image: " + folder.string() + " holds no whole data set: " +
                           to_text({{idx, "the idx form lacks " + no_idx + ", plain or ending in .gz"},
                                    {cifar, "CIFAR-10's binary form lacks " + no_cifar +
                                                ", plain or ending in .gz, or cifar-10-binary.tar.gz, which has all"},
                                    {npz, "ImageNet's npz form lacks " + no_npz}}) +
                           ". Put the missing files there");
}

}  // namespace ablate::image
