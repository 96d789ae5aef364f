// Are two circles at the ends of the same dashed contour? (Pathfinder of the Long Range Arena; at 128 x 128 pixels Path-X.)
#include <algorithm>
#include <array>
#include <numeric>

#include "ablate/cached_file.h"
#include "ablate/examples.h"
#include "ablate/random.h"
#include "ablate/task.h"
#include "drawing.h"
#include "folder.h"
#include "generator.h"

namespace {

using namespace ablate::pathfinder;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"\"", "", kExpected),
    ablate::integer("size", "32", {32, 128}, "side of the pictures: 32, 64, or 128 (Path-X)", "pixels"),
    ablate::integer("contour", "14", {6, 14}, "length of the two long contours, 6 (curv_baseline), 9 or 14", "paddles"),
    ablate::text(
        "black", "\"token\"", "token|absent",
        "treatment of black pixels; absent: as padding, like code of the Long Range Arena that detects padding by its value"),
    ablate::when("data = \"\"", ablate::integer("train", "160000", {1, 10000000},
                                                "examples to train on; if data are read, all except dev and test", "examples")),
    ablate::integer("dev", "20000", {1, 10000000}, "examples that select the best weights", "examples"),
    ablate::integer("test", "20000", {1, 10000000}, "examples to report on", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992},
                    "seed of generated pictures; if data are read, it draws dev and test"),
};

constexpr std::int64_t kGreys = 256;

class Pathfinder final : public ablate::Task {
 public:
  explicit Pathfinder(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        cache_(context.cache),
        threads_(context.threads),
        black_absent_(context.parameters.text("black") == "absent"),
        settings_{.side = context.parameters.integer("size"),
                  .contour = context.parameters.integer("contour"),
                  .seed = static_cast<std::uint64_t>(context.parameters.integer("data_seed"))},
        wanted_{context.parameters.integer("train"), context.parameters.integer("dev"), context.parameters.integer("test")} {
    form_of(settings_.side, settings_.contour);  // throws for other sizes
  }

  ablate::TaskInfo info() override {
    if (!data_.empty()) find_folder(data_, settings_.side, settings_.contour);  // reports missing data at once
    const auto side = settings_.side;
    return {.fields = {{.name = "grey", .vocabulary = kGreys}},
            .length = side * side,
            .classes = 2,
            .holes = black_absent_,
            .geometry = {.rows = side, .columns = side}};
  }

  std::vector<std::filesystem::path> files() override {
    if (data_.empty()) return {};
    auto [files, rows] = read_folder(find_folder(data_, settings_.side, settings_.contour));
    for (auto& row : rows) files.push_back(std::move(row.picture));
    return files;
  }

  void load() override {
    if (data_.empty()) {
      generate_or_recall();
    } else {
      pictures_ = read_pictures(read_folder(find_folder(data_, settings_.side, settings_.contour)), settings_.side, threads_);
      places_ = ablate::split_by_seed(pictures_.size(), static_cast<std::size_t>(wanted_[1]),
                                      static_cast<std::size_t>(wanted_[2]), settings_.seed);
    }
    ablate::Digest digest;
    pictures_.add_to(digest);
    for (const auto& places : places_) digest.add_column(places);
    if (black_absent_) digest.add(black_absent_);
    digest_ = digest.hex();
  }

  std::string digest() const override { return digest_; }
  std::int64_t size(ablate::Split split) const override { return std::ssize(places_[static_cast<std::size_t>(split)]); }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    const auto length = static_cast<std::size_t>(batch.length);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto place = place_at(split, indices[row]);
      const auto ids = batch.ids[0].subspan(row * length, length);
      const auto present = batch.present[0].subspan(row * length, length);
      if (black_absent_) std::ranges::fill(present, std::uint8_t{0});
      pictures_.for_each_pixel(place, [&](std::size_t pixel, std::uint8_t grey) { ids[pixel] = grey, present[pixel] = 1; });
      batch.targets[row] = pictures_.connected(place) ? 1 : 0;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    constexpr std::string_view kInk = " .:-=+*#%@";
    const auto place = place_at(split, index);
    const auto side = static_cast<std::size_t>(settings_.side), line = 2 * side + 1;
    std::string text(side * line, ' ');
    for (std::size_t row = 0; row < side; ++row) text[row * line + 2 * side] = '\n';
    pictures_.for_each_pixel(place, [&](std::size_t pixel, std::uint8_t grey) {
      // A character is about twice as high as wide.
      text.replace(pixel / side * line + pixel % side * 2, 2, 2, kInk[grey * kInk.size() / kGreys]);
    });
    return (pictures_.connected(place) ? "label 1, connected\n" : "label 0, not connected\n") + text;
  }

 private:
  void generate_or_recall() {
    auto key = to_text(settings_) + ", sizes";
    for (const auto size : wanted_) key += ' ' + std::to_string(size);
    const auto stored =
        ablate::cached(cache_, "pathfinder", key, [&] { return generate(settings_, wanted_, threads_).to_bytes(); });
    pictures_ = Pictures::from_bytes(stored.content);
    std::uint32_t first = 0;
    for (std::size_t split = 0; split < places_.size(); ++split) {
      places_[split].resize(static_cast<std::size_t>(wanted_[split]));
      std::iota(places_[split].begin(), places_[split].end(), first);
      first += static_cast<std::uint32_t>(wanted_[split]);
    }
  }

  std::size_t place_at(ablate::Split split, std::int64_t index) const {
    return places_[static_cast<std::size_t>(split)][ablate::place_of(index, size(split))];
  }

  std::string data_;
  std::filesystem::path cache_;
  int threads_;
  bool black_absent_;
  GeneratorSettings settings_;
  std::array<std::int64_t, 3> wanted_;  ///< sizes of the splits; if data are read, train is the rest
  Pictures pictures_;
  std::array<ablate::Places, 3> places_;  ///< train, dev, test: indices into `pictures_`
  std::string digest_;
};

}  // namespace

ABLATE_TASK(Pathfinder,
            {.id = "pathfinder",
             .version = "1.1.0",
             .summary = "two circles among dashed contours: are they on the same one?",
             .paper = "Linsley et al. 2018, arXiv 1805.08315; sizes of Tay et al. 2021, arXiv 2011.04006, section 2.2.5",
             .parameters = parameters})
