#include "core/trial/training/checkpoint_file.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "ablate/digest.h"
#include "core/util/error.h"
#include "core/util/one_line.h"
#include "core/util/regular_file.h"

namespace ablate {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers and tensors are written as they lie in memory");

constexpr std::string_view kMagic = "ablate checkpoint 1\n";
constexpr std::string_view kMagicWord = "ablate checkpoint ";
constexpr std::size_t kSumBytes = std::tuple_size_v<Digest::Sum>;

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

json shapes_of(const std::vector<at::Tensor>& tensors) {
  auto all = json::array();
  for (const auto& tensor : tensors) all.push_back({static_cast<int>(tensor.scalar_type()), tensor.sizes().vec()});
  return all;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& found, const std::string& expected) {
  throw Error(fmt::format("{} is damaged: found {}, expected {}", file.string(), found, expected));
}

void read(RegularFile& file, const std::filesystem::path& path, void* into, std::uintmax_t count) {
  auto* to = static_cast<char*>(into);
  for (std::size_t n = 1; count > 0 && n > 0; count -= n, to += n) n = file.read(to, count);
  if (count > 0) refuse(path, "its end", fmt::format("{} bytes more", count));
}

/// Throws Error if the content does not match its sum. Called first, because a damaged file may contain anything.
void expect_sum(const std::filesystem::path& path) {
  RegularFile file(path);
  auto left = file.size();
  if (left < kMagic.size() + kSumBytes) refuse(path, fmt::format("{} bytes", left), "a whole file");
  std::string piece(std::size_t{1} << 20, '\0');
  Digest digest;
  for (left -= kSumBytes; left > 0; left -= piece.size()) {
    if (piece.size() > left) piece.resize(left);
    read(file, path, piece.data(), piece.size());
    digest.add(piece.data(), piece.size());
  }
  Digest::Sum found{};
  read(file, path, found.data(), found.size());
  if (const auto sum = digest.sum(); found != sum) refuse(path, "content of the sum " + to_hex(sum), to_hex(found));
}

/// Reader of a file's content before the sum, piece by piece.
class Content {
 public:
  explicit Content(const std::filesystem::path& path) : path_(path), file_(path), left_(file_.size() - kSumBytes) {}

  std::string text(std::uintmax_t count) {
    expect(count);
    std::string text(count, '\0');
    take(text.data(), count);
    return text;
  }
  /// Reads a text whose size is stored before it.
  std::string sized_text() {
    std::uint64_t size = 0;
    take(&size, sizeof(size));
    return text(size);
  }
  std::vector<at::Tensor> tensors(const json& shapes) {
    std::vector<at::Tensor> all;
    for (const auto& shape : shapes) {
      const auto sizes = shape.at(1).get<std::vector<std::int64_t>>();
      const auto type = at::TensorOptions().dtype(static_cast<at::ScalarType>(shape.at(0).get<int>()));
      std::uintmax_t bytes = type.dtype().itemsize();
      for (const auto size : sizes) bytes *= static_cast<std::uintmax_t>(size);
      expect(bytes);
      all.push_back(at::empty(sizes, type));
      take(all.back().mutable_data_ptr(), bytes);
    }
    return all;
  }

 private:
  void expect(std::uintmax_t count) const {
    if (count > left_) refuse(path_, fmt::format("{} bytes", left_), fmt::format("{} more", count));
  }
  void take(void* into, std::uintmax_t count) {
    expect(count);
    left_ -= count;
    read(file_, path_, into, count);
  }

  std::filesystem::path path_;
  RegularFile file_;
  std::uintmax_t left_;
};

/// Returns the parts in which two identities differ, in words; "" if they are equal.
std::string other_parts(const json& found, const json& expected) {
  const auto part = [](const json& of, const char* name) { return of.is_object() ? of.value(name, json()) : json(); };
  std::string text;
  const auto differ = [&](const std::string& what, const json& one, const json& other) {
    if (one != other)
      text += fmt::format("{}{} (found {}, expected {})", text.empty() ? "" : ", ", what, one_line(one.dump(), 80),
                          one_line(other.dump(), 80));
  };
  const auto one = part(found, "basis"), other = part(expected, "basis");
  differ("code", part(one, "plugins"), part(other, "plugins"));
  for (const auto* name : {"data", "runtime", "kernels", "torch"}) differ(name, part(one, name), part(other, name));
  differ("settings", part(found, "settings"), part(expected, "settings"));
  return text;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& about, const TrainingState& state) {
  const auto text = about.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  const auto training = state.training.views(), best = state.best.views();
  const auto cbor =
      json::to_cbor(json{{"numbers", state.training.numbers}, {"training", shapes_of(training)}, {"best", shapes_of(best)}});
  std::error_code failed;
  if (std::filesystem::create_directories(file.parent_path(), failed)) names_to_disk(file.parent_path().parent_path());
  failed = put_whole(
      file,
      [&](const TakePiece& take) {
        Digest digest;
        const auto put = [&](std::string_view piece) {
          digest.add(piece.data(), piece.size());
          take(piece);
        };
        const auto put_sized = [&](std::string_view piece) {
          const std::uint64_t size = piece.size();
          put({reinterpret_cast<const char*>(&size), sizeof(size)});
          put(piece);
        };
        put(kMagic);
        put_sized(text);
        put_sized({reinterpret_cast<const char*>(cbor.data()), cbor.size()});
        for (const auto* tensors : {&training, &best})
          for (const auto& tensor : *tensors) put(bytes_of(tensor));
        const auto sum = digest.sum();
        take({reinterpret_cast<const char*>(sum.data()), sum.size()});
      },
      true);
  if (failed) throw Error(fmt::format("cannot write {}: {}", file.string(), failed.message()));
}

ReadCheckpoint read_checkpoint(const std::filesystem::path& file, const AboutCheckpoint& expected) {
  {
    std::string magic(kMagic.size(), '\0');
    RegularFile beginning(file);
    magic.resize(beginning.read(magic.data(), magic.size()));
    if (magic.starts_with(kMagicWord) && magic != kMagic)
      throw Error(fmt::format("{} is of another version of its format: found \"{}\", expected \"{}\"", file.string(),
                              one_line(magic), one_line(kMagic)));
  }
  expect_sum(file);
  Content content(file);
  content.text(kMagic.size());
  ReadCheckpoint read{.about = json::parse(content.sized_text()), .state = {}};
  if (const auto other = other_parts(read.about, expected); !other.empty())
    throw Error(fmt::format("{} is of another trial: {}", file.string(), other));
  const auto numbers = json::from_cbor(content.sized_text());
  read.state.training.keep(content.tensors(numbers.at("training")));
  read.state.training.numbers = numbers.at("numbers");
  read.state.best.keep(content.tensors(numbers.at("best")));
  return read;
}

}  // namespace ablate
