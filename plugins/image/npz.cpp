#include "npz.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>

#include "ablate/archive.h"
#include "ablate/input_file.h"
#include "ablate/parallel.h"

namespace ablate::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArray = "data.npy";
constexpr std::size_t kPlane = 64 * 64, kPicture = 3 * kPlane;
constexpr std::size_t kPreamble = 10;                        // numpy's format 1.0: magic, version, size of the header
constexpr std::size_t kMostPictures = std::size_t{1} << 21;  // limit per array; published: 1,281,167 in all
constexpr const char* kForm = "bytes ('|u1') in C order of the shape (pictures, 12288)";

/// Returns the text that follows a name in a header like {'descr': '|u1', 'fortran_order': False, 'shape': (5, 12288), }.
std::string_view value_of(std::string_view header, std::string_view name) {
  const auto at = header.find(name);
  if (at == std::string_view::npos) return {};
  auto rest = header.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" '\":"), rest.size()));
  return rest;
}

/// Reads the header of the archive's current array, and returns the number of its pictures.
std::size_t read_header(Archive& npz, const std::string& name) {
  std::array<std::uint8_t, kPreamble> preamble{};
  constexpr std::array<std::uint8_t, 8> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  if (npz.read(preamble) < preamble.size() || !std::equal(kMagic.begin(), kMagic.end(), preamble.begin()))
    throw FileError(name, std::string(kArray) + " does not begin as an array of numpy's format 1.0, expected one");
  std::vector<std::uint8_t> bytes(preamble[8] | preamble[9] << 8);
  if (npz.read(bytes) < bytes.size()) throw FileError(name, std::string(kArray) + " ends within its header, expected " + kForm);
  const std::string header(bytes.begin(), bytes.end());
  const auto shape = value_of(header, "shape");
  std::size_t pictures = 0;
  const auto* const end = shape.data() + shape.size();
  const auto number = shape.starts_with('(') ? std::from_chars(shape.data() + 1, end, pictures).ptr : end;
  const auto refuse = [&](const std::string& expected) {
    throw FileError(name, std::string(kArray) + " has the header " + header.substr(0, header.find_last_not_of(" \n") + 1) +
                              ", expected " + expected);
  };
  const bool fits = std::string_view(number, static_cast<std::size_t>(end - number)).starts_with(", 12288)");
  if (!value_of(header, "descr").starts_with("|u1'") || !value_of(header, "fortran_order").starts_with("False") || !fits ||
      pictures == 0)
    refuse(kForm);
  // The shape in the header is untrusted, so it is compared with the array's size before memory is allocated.
  const auto size = npz.size();
  const auto most = std::min<std::uint64_t>(size ? *size / kPicture : kMostPictures, kMostPictures);
  if (pictures > most)
    refuse("at most " + std::to_string(most) + " pictures" +
           (size ? ", as it has " + std::to_string(*size) + " bytes" : std::string()) + ": fetch it again");
  return pictures;
}

/// One npz file, in a folder or in an archive.
struct Batch {
  fs::path file, entry;  ///< entry: the npz's path in the archive `file`; empty if `file` is the npz itself
  std::size_t pictures = 0, first = 0;
  std::string name() const { return (entry.empty() ? file : file / entry).string(); }
};

/// Calls `call` with the batch's archive, positioned at the array `data`.
void open_data(Archive& npz, const Batch& batch, const std::function<void(Archive& data)>& call) {
  std::string found;
  while (const auto array = npz.next()) {
    if (*array == kArray) return call(npz);
    found += (found.empty() ? "" : ", ") + array->string();
  }
  throw FileError(batch.name(), "found the arrays " + (found.empty() ? "(none)" : found) + ", expected " + kArray);
}

void open(const Batch& batch, const std::function<void(Archive& data)>& call) {
  Archive outer(batch.file, Packing::kZip);
  if (batch.entry.empty()) return open_data(outer, batch, call);
  while (const auto entry = outer.next())
    if (*entry == batch.entry) {
      Archive inner(outer);
      return open_data(inner, batch, call);
    }
  throw FileError(batch.file, "no longer has " + batch.entry.string() + ": the file changed while it was read");
}

std::vector<Batch> batches_of(const fs::path& file) {
  if (file.extension() == ".npz") return {{file, {}}};
  const auto names = batches_of_part(file.stem().string());
  std::vector<Batch> batches(names.size(), {file, {}});
  Archive zip(file, Packing::kZip);
  while (const auto entry = zip.next())
    if (const auto at = std::ranges::find(names, entry->filename().string()) - names.begin(); at < std::ssize(names)) {
      auto& own = batches[static_cast<std::size_t>(at)].entry;
      if (!own.empty()) throw FileError(file, "holds " + entry->filename().string() + " twice, expected it once");
      own = *entry;
    }
  std::string missing;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (batches[i].entry.empty()) missing += (missing.empty() ? "" : ", ") + names[i];
  if (!missing.empty()) throw FileError(file, "lacks " + missing + ", expected all of its batches: fetch it again");
  return batches;
}

/// Turns planes into pixels.
void interleave(std::span<const std::uint8_t, kPicture> planes, std::uint8_t* to) {
  for (std::size_t i = 0; i < kPlane; ++i)
    for (std::size_t plane = 0; plane < 3; ++plane) *to++ = planes[plane * kPlane + i];
}

void read_pictures(Archive& data, const Batch& batch, Images& to) {
  read_header(data, batch.name());
  std::array<std::uint8_t, kPicture> planes{};
  for (std::size_t i = 0; i < batch.pictures; ++i) {
    if (const auto got = data.read(planes); got < planes.size())
      throw FileError(batch.name(), std::string(kArray) + " ends within picture " + std::to_string(i + 1) + ": found " +
                                        std::to_string(got) + " of its 12288 bytes, expected " +
                                        std::to_string(batch.pictures) + " pictures");
    interleave(planes, to.values.data() + (batch.first + i) * kPicture);
  }
  // Reads to the end, because the checksum is compared there.
  if (data.read({planes.data(), 1}) != 0)
    throw FileError(batch.name(), std::string(kArray) + " has more data after the " + std::to_string(batch.pictures) +
                                      " pictures of its header, expected none: fetch it again");
}

}  // namespace

std::vector<std::string> batches_of_part(const std::string& part) {
  if (part == kImageNetParts[2]) return {"val_data.npz"};
  std::vector<std::string> names;
  const int first = part == kImageNetParts[0] ? 1 : 6;
  for (int batch = first; batch < first + 5; ++batch) names.push_back("train_data_batch_" + std::to_string(batch) + ".npz");
  return names;
}

Images read_npz(std::span<const fs::path> files, int threads) {
  std::vector<Batch> batches;
  for (const auto& file : files)
    for (auto& batch : batches_of(file)) batches.push_back(std::move(batch));
  parallel(batches.size(), threads, [&](std::size_t i) {
    open(batches[i], [&](Archive& data) { batches[i].pictures = read_header(data, batches[i].name()); });
  });
  std::size_t pictures = 0;
  std::map<fs::path, std::uint64_t> claimed;  // unpacked bytes by file: sizes in an archive are untrusted, too
  for (auto& batch : batches) {
    batch.first = pictures;
    pictures += batch.pictures;
    check_unpacked(batch.name(), claimed[batch.file] += batch.pictures * kPicture, fs::file_size(batch.file));
  }
  Images images{kImageNetShape, std::vector<std::uint8_t>(pictures * kPicture), std::vector<std::uint8_t>(pictures)};
  parallel(batches.size(), threads,
           [&](std::size_t i) { open(batches[i], [&](Archive& data) { read_pictures(data, batches[i], images); }); });
  return images;
}

}  // namespace ablate::image
