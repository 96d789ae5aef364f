// Simple predictors on tasks with known answers: each predictor finds its kind of answer, and no other.
#include "core/trial/floors/floors.h"

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/trial/training/order.h"
#include "tests/support/catch.h"
#include "tests/trial/drawn.h"

using namespace ablate;

namespace {

/// Examples of ids (or reals) and targets, made by a function.
class Examples : public Task {
 public:
  struct One {
    std::vector<std::int64_t> ids, targets;
    std::vector<float> reals = {};
  };
  using Make = std::function<One(Draw draw)>;

  Examples(TaskInfo info, Make make, std::int64_t size = 1200) : info_(std::move(info)), make_(std::move(make)), size_(size) {}
  TaskInfo info() override { return info_; }
  void load() override {}
  std::string digest() const override { return "examples"; }
  std::int64_t size(Split) const override { return size_; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  One one(Split split, std::int64_t index) const {
    return make_(Draw(static_cast<std::uint64_t>(3 * index) + static_cast<std::uint64_t>(split)));
  }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      read_[split].insert(indices[i]);
      const auto [ids, targets, reals] = one(split, indices[i]);
      const auto to = [&](auto& all) { return all.begin() + static_cast<std::ptrdiff_t>(i * (all.size() / indices.size())); };
      if (!ids.empty()) std::copy(ids.begin(), ids.end(), to(batch.ids[0]));
      std::copy(reals.begin(), reals.end(), to(batch.reals[0]));
      std::copy(targets.begin(), targets.end(), to(batch.targets));
    }
  }
  const std::set<std::int64_t>& read_of(Split split) const { return read_[split]; }

 private:
  TaskInfo info_;
  Make make_;
  std::int64_t size_;
  mutable std::map<Split, std::set<std::int64_t>> read_;
};

std::map<std::string, FoundFloors::Floor> floors_of(Task& task, const ExampleRows& rows = {}) {
  std::map<std::string, FoundFloors::Floor> all;
  for (const auto& floor : find_floors(task, task.info(), rows, kEnough_s).floors) all.emplace(floor.name, floor);
  return all;
}

std::vector<std::int64_t> digits(Draw& draw, std::size_t length, std::int64_t vocabulary = 10) {
  std::vector<std::int64_t> ids(length);
  for (auto& id : ids) id = draw.below(vocabulary);
  return ids;
}

TaskInfo class_info(std::int64_t length, std::int64_t classes, std::int64_t vocabulary = 10) {
  return {.fields = {{.name = "digit", .vocabulary = vocabulary}}, .length = length, .classes = classes};
}

TaskInfo position_info(std::int64_t length, std::int64_t classes) {
  auto info = class_info(length, classes, classes);
  info.objective = Objective::kPositions;
  return info;
}

}  // namespace

TEST_CASE("a label that is the token at position 3 is predicted from this position, but not by the largest class or a bag") {
  Examples task(class_info(12, 10), [](Draw draw) {
    auto ids = digits(draw, 12);
    const auto label = ids[3];
    return Examples::One{std::move(ids), {label}};
  });
  const auto found = floors_of(task);
  CHECK(found.at("label at one position").value == 100);
  CHECK(found.at("label at one position").how == "digit at 3");
  CHECK(found.at("label at one position").trained == 1200);
  CHECK(found.at("largest class").value < 15);
  CHECK(found.at("linear on a bag").value > 15);  // the digit is among the twelve tokens
  CHECK(found.at("linear on a bag").value < 50);
  CHECK_FALSE(found.contains("counts"));
  CHECK_FALSE(found.contains("linear on the values"));
}

TEST_CASE("the largest class is scored only on the examples that a trial is tested on") {
  Examples task(class_info(4, 3), [](Draw draw) {
    const auto label = draw.below(10);
    return Examples::One{digits(draw, 4), {label < 5 ? 2 : label % 2}};
  });
  constexpr std::int64_t kRows = 150;
  const auto found = find_floors(task, task.info(), {.test = kRows}, kEnough_s);
  double right = 0;
  const auto asked = sample_of(1200, kRows);
  for (const auto index : asked) right += task.one(Split::kTest, index).targets[0] == 2 ? 1 : 0;
  REQUIRE(found.floors.front().name == "largest class");
  CHECK(found.floors.front().value == Approx(100 * right / kRows).epsilon(1e-12));
  CHECK(task.read_of(Split::kTest) == std::set<std::int64_t>(asked.begin(), asked.end()));
  CHECK(found.examples == kRows);
  CHECK(found.train_size == 1200);
  CHECK(found.metric == "test/accuracy");
  CHECK(found.unit == "%");
}

TEST_CASE("the largest class reports that all examples of dev have one class") {
  class OneClassDev final : public Examples {
   public:
    using Examples::Examples;
    void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
      Examples::read(split, indices, batch);
      if (split == Split::kDev) std::fill(batch.targets.begin(), batch.targets.end(), 1);
    }
  };
  const auto drawn = [](Draw draw) { return Examples::One{digits(draw, 4), {draw.below(2)}}; };
  Examples two(class_info(4, 2), drawn);
  OneClassDev one(class_info(4, 2), drawn);
  CHECK(floors_of(two).at("largest class").how.empty());
  CHECK(floors_of(one).at("largest class").how == "all of dev is of one class");
}

TEST_CASE("predictors train only on the examples that a trial with seed 1 reads in its steps") {
  const auto info = class_info(4, 3);
  const auto make = [](Draw draw) { return Examples::One{digits(draw, 4), {draw.below(3)}}; };
  for (const std::int64_t batch : {std::int64_t{1}, std::int64_t{5}, std::int64_t{50}}) {
    Examples task(info, make);
    constexpr std::int64_t kSeen = 350;
    const auto order = training_order(info, 1200, batch, 1);
    std::set<std::int64_t> read;
    for (std::int64_t step = 0; step < kSeen / batch; ++step)
      for (const auto index : order->next().indices) read.insert(index);
    REQUIRE(read.size() == kSeen);
    const auto found = find_floors(task, info, {.train = kSeen, .lanes = batch}, kEnough_s);
    CHECK(task.read_of(Split::kTrain) == read);
    CHECK(found.seen == kSeen);
    CHECK(found.train_size == 1200);
    for (const auto& floor : found.floors) CHECK(floor.trained == kSeen);
  }
  Examples all(info, make);
  const auto found = find_floors(all, info, {.train = 1201}, kEnough_s);
  CHECK(all.read_of(Split::kTrain).size() == 1200);
  CHECK(found.seen == 1200);
  // The floors equal the floors of the whole split, because the whole split was read.
  Examples whole(info, make);
  const auto of_whole = find_floors(whole, info, {}, kEnough_s);
  for (std::size_t i = 0; i < found.floors.size(); ++i) CHECK(found.floors[i].value == of_whole.floors[i].value);
}

TEST_CASE("a bag finds symbols, n-grams find their order") {
  Examples bag(class_info(20, 2), [](Draw draw) {
    auto ids = digits(draw, 20, 9);
    const auto label = draw.below(2);
    if (label == 1) ids[static_cast<std::size_t>(draw.below(20))] = 9;
    return Examples::One{std::move(ids), {label}};
  });
  const auto of_bag = floors_of(bag);
  CHECK(of_bag.at("linear on a bag").value > 99);
  CHECK(of_bag.at("label at one position").value < 60);

  // Both classes have the same symbols equally often, in opposite orders.
  Examples order(class_info(20, 2), [](Draw draw) {
    const auto label = draw.below(2);
    std::vector<std::int64_t> ids(20, 0);
    const auto at = static_cast<std::size_t>(draw.below(19));
    ids[at] = label == 1 ? 3 : 4, ids[at + 1] = label == 1 ? 4 : 3;
    return Examples::One{std::move(ids), {label}};
  });
  const auto of_order = floors_of(order);
  CHECK(of_order.at("linear on n-grams").value > 99);
  CHECK(of_order.at("linear on a bag").value < 58);
}

TEST_CASE("a class that is linear in numbers at positions is found: reals, and ids of a picture") {
  TaskInfo reals{.fields = {{.name = "x", .reals = 2}}, .length = 3, .classes = 2};
  Examples line(reals, [](Draw draw) {
    std::vector<float> x(6);
    for (auto& number : x) number = static_cast<float>(draw.below(2001) - 1000) / 1000;
    return Examples::One{{}, {2 * x[1] - x[4] > 0.3F ? 1 : 0}, x};
  });
  CHECK(floors_of(line).at("linear on the values").value > 97);

  auto picture = class_info(4, 2, 256);
  picture.geometry = {.rows = 2, .columns = 2};
  const auto brighter = [](Draw draw) {
    auto ids = digits(draw, 4, 256);
    const auto label = ids[0] + ids[1] > ids[2] + ids[3] ? 1 : 0;
    return Examples::One{std::move(ids), {label}};
  };
  Examples pixels(picture, brighter);
  CHECK(floors_of(pixels).at("linear on the values").value > 97);
  CHECK_FALSE(floors_of(pixels).contains("linear on a bag"));
  picture.geometry = {};
  Examples symbols(picture, brighter);
  CHECK_FALSE(floors_of(symbols).contains("linear on the values"));
}

TEST_CASE("a class at a position is predicted by neighbours, but not by later neighbours for a causal model") {
  const auto next = [](Draw draw) {
    Examples::One one{digits(draw, 10, 6), std::vector<std::int64_t>(10, -1)};
    for (std::size_t at = 0; at + 1 < 10; ++at) one.targets[at] = one.ids[at + 1];
    return one;
  };
  Examples both(position_info(10, 6), next);
  auto found = floors_of(both);
  CHECK(found.at("linear on neighbours").value > 99);
  CHECK(found.at("counts").value < 25);
  auto causal_info = position_info(10, 6);
  causal_info.causal = true;
  Examples causal(causal_info, next);
  CHECK(floors_of(causal).at("linear on neighbours").value < 25);

  Examples before(causal_info, [](Draw draw) {
    Examples::One one{digits(draw, 10, 6), std::vector<std::int64_t>(10, -1)};
    for (std::size_t at = 1; at < 10; ++at) one.targets[at] = (one.ids[at - 1] + one.ids[at]) % 6;
    return one;
  });
  found = floors_of(before);
  CHECK(found.at("counts").value == 100);  // two symbols together decide the class, so no linear function finds the class
  CHECK(found.at("counts").how == "order 3");
  CHECK(found.at("counts").others.starts_with("order 1: "));
  CHECK(found.at("linear on neighbours").value < 60);
}

TEST_CASE("numbers in sequence are predicted by least squares, up to the bits of their noise") {
  auto info = position_info(64, 256);
  info.unit = "dimension";
  info.causal = true;
  info.geometry = {.rows = 8, .columns = 8};
  // A number is the previous number, moved a quarter towards 128, plus -10, 0 or 10. The input is the previous number.
  Examples task(
      info,
      [](Draw draw) {
        Examples::One one{{}, {}};
        std::int64_t number = 128;
        for (int i = 0; i < 64; ++i) {
          one.ids.push_back(number);
          number = 128 + (number - 128) * 3 / 4 + 10 * (draw.below(3) - 1);
          one.targets.push_back(number);
        }
        return one;
      },
      3000);
  const auto found = floors_of(task);
  CHECK(found.at("linear prediction").value > std::log2(3.0));  // rounding costs bits: 3 / 4 of a number is often no integer
  CHECK(found.at("linear prediction").value < std::log2(3.0) + 1);
  CHECK(found.at("counts").value == Approx(std::log2(3.0)).margin(0.02));
  CHECK_FALSE(found.contains("largest class"));
}

TEST_CASE("symbols that both sequences of a pair share predict its class") {
  auto info = class_info(6, 2, 1000);
  info.sequences = 2;
  class Pairs : public Task {
   public:
    explicit Pairs(TaskInfo info) : info_(std::move(info)) {}
    TaskInfo info() override { return info_; }
    void load() override {}
    std::string digest() const override { return "pairs"; }
    std::int64_t size(Split) const override { return 3000; }
    std::string describe(Split, std::int64_t) const override { return ""; }
    void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
      for (std::size_t i = 0; i < indices.size(); ++i) {
        Draw draw(static_cast<std::uint64_t>(3 * indices[i]) + static_cast<std::uint64_t>(split));
        const auto a = digits(draw, 6, 40);
        auto b = digits(draw, 6, 40);
        for (auto& id : b) id += 40;
        batch.targets[i] = draw.below(2);
        if (batch.targets[i] == 1) b[static_cast<std::size_t>(draw.below(6))] = a[0];
        std::copy(a.begin(), a.end(), batch.ids[0].begin() + static_cast<std::ptrdiff_t>(6 * i));
        std::copy(b.begin(), b.end(), batch.ids[1].begin() + static_cast<std::ptrdiff_t>(6 * i));
      }
    }

   private:
    TaskInfo info_;
  } task(info);
  CHECK(floors_of(task).at("linear on a bag").value > 97);
}

TEST_CASE("predictors without time left are named, and a label outside the classes is refused") {
  Examples task(class_info(4, 2), [](Draw draw) { return Examples::One{digits(draw, 4), {draw.below(2)}}; });
  const auto found = find_floors(task, task.info(), {}, 0);
  CHECK(found.floors.empty());
  CHECK(found.left_out ==
        std::vector<std::string>{"largest class", "label at one position", "linear on a bag", "linear on n-grams"});
  Examples wrong(class_info(4, 2), [](Draw draw) { return Examples::One{digits(draw, 4), {2}}; });
  CHECK_THROWS_WITH(find_floors(wrong, wrong.info(), {}, kEnough_s),
                    "the task handed out the label 2, and the task has 2 classes");
}
