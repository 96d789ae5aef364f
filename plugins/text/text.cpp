// Film reviews byte by byte: is a review for or against its film? (Text of the Long Range Arena: IMDb, Maas et al. 2011.)
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <stdexcept>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/random.h"
#include "ablate/task.h"
#include "reviews.h"
#include "source.h"

namespace {

using namespace ablate::imdb;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"imdb\"", "", kExpected),
    ablate::integer("length", "4000", {1, 1048576},
                    "first bytes of each review; the Long Range Arena uses 1000, and 4000 in its speed tests and later tables",
                    "bytes"),
    ablate::text("dev_from", "\"train\"", "train|test",
                 "reviews that select the best weights. train: all training reviews of some films; test: the test reviews "
                 "themselves, as in the Long Range Arena, which makes results too good"),
    ablate::when("dev_from = train",
                 ablate::integer("dev", "2500", {2, 1000000}, "approximate number, because films are not divided", "examples")),
    ablate::when("dev_from = train", ablate::integer("data_seed", "0", {0, 9007199254740992}, "draws the films of dev")),
};

constexpr ablate::Exemption exemptions[] = {
    {"splits are disjoint", "dev, test",
     "as published: the Long Range Arena has no dev split here (lra_benchmarks/text_classification)", 1, "dev_from = test"},
};

constexpr std::int64_t kBytes = 256;

class Text final : public ablate::Task {
 public:
  explicit Text(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        length_(static_cast<std::size_t>(context.parameters.integer("length"))),
        dev_is_test_(context.parameters.text("dev_from") == "test"),
        dev_(static_cast<std::size_t>(context.parameters.integer("dev"))),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))) {}

  ablate::TaskInfo info() override {
    find_source(data_);  // reports missing data before anything is loaded
    return {.fields = {{.name = "byte", .vocabulary = kBytes + 1}}, .length = static_cast<std::int64_t>(length_), .classes = 2};
  }

  std::vector<std::filesystem::path> files() override { return files_of(find_source(data_)); }

  void load() override {
    halves_ = read_reviews(find_source(data_), length_, !dev_is_test_);
    for (auto& places : places_) places.clear();
    for (const auto half : {0u, 1u})
      for (std::uint32_t i = 0; i < halves_[half].size(); ++i) places_[2 * half].push_back(i);
    if (dev_is_test_)
      places_[1] = places_[2];
    else
      draw_dev();
  }

  std::string digest() const override {
    ablate::Digest digest;
    for (std::size_t split = 0; split < places_.size(); ++split) {
      digest.add(std::uint64_t{places_[split].size()});
      for (const auto place : places_[split]) digest.add(half(split)[place].positive).add_column(half(split)[place].text);
    }
    return digest.hex();
  }

  std::int64_t size(ablate::Split split) const override { return std::ssize(places_[static_cast<std::size_t>(split)]); }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto& review = review_at(split, indices[row]);
      for (std::size_t i = 0; i < review.text.size(); ++i)  // 0 is padding, as published
        batch.ids[0][row * length_ + i] = 1 + static_cast<unsigned char>(review.text[i]);
      ablate::end_row(batch, row, review.text.size());
      batch.targets[row] = review.positive ? 1 : 0;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto& review = review_at(split, index);
    return (review.positive ? "label 1, for the film: " : "label 0, against the film: ") + review.text;
  }

 private:
  /// Draws whole films, not reviews. Otherwise dev would share films with train and be easier than test, which shares none.
  void draw_dev() {
    std::map<std::string, std::size_t> reviews_of;
    for (const auto& review : halves_[0]) ++reviews_of[review.film];
    std::vector<std::string> films;
    for (const auto& [film, count] : reviews_of) films.push_back(film);
    std::mt19937_64 random = ablate::generator(seed_, {});
    ablate::shuffle(films, random);
    std::size_t drawn = 0;
    for (const auto& film : films)
      if (drawn < dev_)
        drawn += reviews_of[film];
      else
        reviews_of.erase(film);
    if (drawn >= halves_[0].size())
      throw std::runtime_error("text: dev = " + std::to_string(dev_) + " leaves nothing of the " +
                               std::to_string(halves_[0].size()) + " training reviews, of " + std::to_string(films.size()) +
                               " films; choose a smaller dev");
    const auto is_dev = [&](std::uint32_t place) { return reviews_of.contains(halves_[0][place].film); };
    std::ranges::copy_if(places_[0], std::back_inserter(places_[1]), is_dev);
    std::erase_if(places_[0], is_dev);
  }

  const std::vector<Review>& half(std::size_t split) const {
    return halves_[split == 2 || (split == 1 && dev_is_test_) ? 1 : 0];
  }
  const Review& review_at(ablate::Split split, std::int64_t index) const {
    const auto which = static_cast<std::size_t>(split);
    return half(which)[places_[which][ablate::place_of(index, size(split))]];
  }

  std::string data_;
  std::size_t length_;
  bool dev_is_test_;
  std::size_t dev_;
  std::uint64_t seed_;
  Halves halves_;
  std::array<ablate::Places, 3> places_;  ///< train, dev, test: indices into half(split)
};

}  // namespace

ABLATE_TASK(Text, {.id = "text",
                   .version = "1.0.0",
                   .summary = "film reviews as sequences of bytes: for or against the film?",
                   .paper = "Tay et al. 2021, arXiv 2011.04006, section 2.2.2; reviews of Maas et al. 2011",
                   .parameters = parameters,
                   .exemptions = exemptions})
