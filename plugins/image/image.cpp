// Pictures as sequences of values, row by row. The objective is their class (Image of the Long Range Arena), or the next value
// (density, as in Parmar et al. 2018 and Child et al. 2019).
#include <algorithm>
#include <stdexcept>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/task.h"
#include "folder.h"
#include "info.h"
#include "splits.h"

namespace {

using namespace ablate::image;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"fashion-mnist\"", "", kExpected),
    ablate::text(
        "objective", "\"class\"", "class|density",
        "class: of a grey picture; density: each value from the values before, in colour for CIFAR-10's batches and ImageNet"),
    ablate::when("objective = class", ablate::text("grey", "\"rounded\"", "rounded|tensorflow",
                                                   "grey of CIFAR-10's colours: 0.2989 R + 0.5870 G + 0.1140 B, rounded; or "
                                                   "times 255.5 / 255, truncated, as in the Long Range Arena")),
    ablate::integer("pool", "1", {1, 64}, "side of the squares averaged into one pixel; must divide the picture's sides",
                    "pixels"),
    ablate::when("objective = class", ablate::text("black", "\"token\"", "token|absent",
                                                   "treatment of black pixels; absent: as padding, like code of the Long Range "
                                                   "Arena that detects padding by its value")),
    ablate::integer("dev", "5000", {1, 10000000},
                    "training examples that select the best weights; if the data are a single batch, the same number of other "
                    "examples are the test split",
                    "examples"),
    ablate::text("dev_pictures", "\"drawn\"", "drawn|last",
                 "training pictures used as dev; the Long Range Arena uses the last ones in TFDS's order, which differs"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "drawn: draws the dev examples and orders the training examples"),
};

class Image final : public ablate::Task {
 public:
  explicit Image(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        colours_(context.parameters.text("objective") == "density" ? Colours::kKept
                 : context.parameters.text("grey") == "tensorflow" ? Colours::kTensorflowGrey
                                                                   : Colours::kGrey),
        black_absent_(!is_density() && context.parameters.text("black") == "absent"),
        pool_(context.parameters.integer("pool")),
        dev_(context.parameters.integer("dev")),
        dev_pictures_(context.parameters.text("dev_pictures") == "last" ? Dev::kLast : Dev::kDrawn),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))),
        threads_(context.threads) {}

  ablate::TaskInfo info() override { return info_of(find_files(data_, colours_), colours_, pool_, black_absent_); }

  std::vector<std::filesystem::path> files() override {
    auto found = find_files(data_, colours_);
    found.train.insert(found.train.end(), found.test.begin(), found.test.end());
    return found.train;
  }

  void load() override {
    const auto files = find_files(data_, colours_);
    splits_ = read_files(files, colours_, pool_, threads_);
    split(splits_, dev_, dev_pictures_, seed_);
    labelled_ = files.format != Format::kNpz;
  }

  std::string digest() const override {
    const auto pictures = ablate::image::digest(splits_);
    return black_absent_ ? ablate::Digest().add_column(pictures).add(black_absent_).hex() : pictures;
  }
  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(splits_.places[static_cast<std::size_t>(split)].size());
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    const auto length = static_cast<std::size_t>(splits_.train_files.shape.values());
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto [values, label] = picture(split, indices[row]);
      const auto begin = static_cast<std::ptrdiff_t>(row * length);
      const auto ids = batch.ids[0].begin() + begin;
      const auto id = [](std::uint8_t value) { return std::int64_t{value} + 1; };
      if (!is_density()) {
        std::transform(values.begin(), values.end(), ids, id);
        batch.targets[row] = label;
        if (black_absent_)
          std::transform(values.begin(), values.end(), batch.present[0].begin() + begin, [](auto value) { return value > 0; });
        continue;
      }
      // Inputs are shifted by one, so that no position contains its own target: the first input is 0.
      *ids = 0;
      std::transform(values.begin(), values.end() - 1, ids + 1, id);
      std::copy(values.begin(), values.end(), batch.targets.begin() + begin);
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto [values, label] = picture(split, index);
    return (labelled_ ? "label " + std::to_string(label) + '\n' : "") + drawing(splits_.train_files.shape, values);
  }

 private:
  struct Picture {
    std::span<const std::uint8_t> values;
    int label;
  };

  Picture picture(ablate::Split split, std::int64_t index) const {
    const auto which = static_cast<std::size_t>(split);
    const std::size_t place = splits_.places[which][ablate::place_of(index, size(split))];
    const auto& files = splits_.files(which);
    const auto values = static_cast<std::size_t>(files.shape.values());
    return {std::span(files.values).subspan(place * values, values), files.labels[place]};
  }

  bool is_density() const { return colours_ == Colours::kKept; }

  std::string data_;
  Colours colours_;
  bool black_absent_;
  std::int64_t pool_, dev_;
  Dev dev_pictures_;
  std::uint64_t seed_;
  int threads_;
  bool labelled_ = true;  ///< false if the format's labels are not read (npz)
  Splits splits_;
};

}  // namespace

ABLATE_TASK(Image, {.id = "image",
                    .version = "1.2.0",
                    .summary = "pictures as sequences: what do they show, or which value is the next one?",
                    .paper = "Tay et al. 2021, arXiv 2011.04006, section 2.2.4",
                    .parameters = parameters})
