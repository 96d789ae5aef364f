// The image plugin's density: predict the next value, in grey and in colour.
#include <functional>
#include <set>

#include "tests/plugins/image_files.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

struct Row {
  std::vector<std::int64_t> ids, targets;
};

Row read_row(const Task& task, const TaskInfo& info, Split split, std::int64_t index) {
  const auto n = static_cast<std::size_t>(info.length);
  Row row{std::vector<std::int64_t>(n, 77), std::vector<std::int64_t>(n, -1)};
  std::vector<std::uint8_t> present(n, 1);
  task.read(split, {&index, 1},
            {.length = info.length, .ids = {row.ids}, .reals = {{}}, .present = {present}, .targets = row.targets});
  CHECK(std::ranges::count(present, 0) == 0);
  return row;
}

/// Checks that every position has its value as target and the previous value as input: 0 at the start, then 1 + value.
void check_row(const Row& row, const Bytes& values) {
  REQUIRE(row.targets.size() == values.size());
  CHECK(row.ids[0] == 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(row.targets[i] == values[i]);
    if (i > 0) REQUIRE(row.ids[i] == values[i - 1] + 1);
  }
}

std::array<std::int64_t, 3> sides(const TaskInfo& info) {
  return {info.geometry.rows, info.geometry.columns, info.geometry.channels};
}

/// Returns a record whose planes are three different gradients.
Bytes gradients(std::uint8_t label, unsigned shift) {
  Bytes record = {label};
  for (unsigned plane = 0; plane < 3; ++plane)
    for (unsigned i = 0; i < 1024; ++i) record.push_back(static_cast<std::uint8_t>((plane + 1) * (i + shift) + 80 * plane));
  return record;
}

Bytes interleaved(const Bytes& record) {
  Bytes values;
  for (std::size_t i = 0; i < 1024; ++i)
    for (std::size_t plane = 0; plane < 3; ++plane) values.push_back(record[1 + plane * 1024 + i]);
  return values;
}

}  // namespace

TEST_CASE("grey pictures: every value is predicted from earlier values") {
  const IdxFolder files;
  const auto task = load_images(files.path(), {{"objective", "density"}});
  const auto info = task->info();
  CHECK((info.objective == Objective::kPositions));
  CHECK(info.causal);
  CHECK(info.unit == "dimension");
  CHECK(info.fields.at(0).vocabulary == 257);
  CHECK(info.classes == 256);
  CHECK(info.length == 24);
  CHECK((sides(info) == std::array<std::int64_t, 3>{4, 6, 1}));
  for (std::int64_t i = 0; i < 20; ++i)
    check_row(read_row(*task, info, Split::kTest, i), files.test[static_cast<std::size_t>(i)]);
  CHECK_FALSE(load_images(files.path())->info().causal);
}

TEST_CASE("CIFAR-10 in colour: red, green and blue of a pixel follow each other") {
  const CifarFolder files;
  Bytes test = gradients(3, 0);
  for (const auto byte : gradients(4, 5)) test.push_back(byte);
  write_bytes(files.file("test_batch.bin"), test);
  const auto task = load_images(files.folder.path(), {{"objective", "density"}, {"dev", 4}});
  const auto info = task->info();
  CHECK(info.length == 3072);
  CHECK((sides(info) == std::array<std::int64_t, 3>{32, 32, 3}));
  check_row(read_row(*task, info, Split::kTest, 0), interleaved(gradients(3, 0)));
  check_row(read_row(*task, info, Split::kTest, 1), interleaved(gradients(4, 5)));

  const auto pooled = load_images(files.folder.path(), {{"objective", "density"}, {"dev", 4}, {"pool", 16}});
  CHECK((sides(pooled->info()) == std::array<std::int64_t, 3>{2, 2, 3}));
  const auto whole = interleaved(gradients(3, 0));
  Bytes means;
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 2; ++column)
      for (std::size_t channel = 0; channel < 3; ++channel) {
        double sum = 0;
        for (std::size_t y = 0; y < 16; ++y)
          for (std::size_t x = 0; x < 16; ++x) sum += whole[((16 * row + y) * 32 + 16 * column + x) * 3 + channel];
        means.push_back(static_cast<std::uint8_t>(std::floor(sum / 256 + 0.5)));
      }
  check_row(read_row(*pooled, pooled->info(), Split::kTest, 0), means);
  CHECK(pooled->describe(Split::kTest, 0).starts_with("label 3\n"));
  CHECK(task->digest() != load_images(files.folder.path(), {{"dev", 4}})->digest());  // without density, pictures are grey
}

TEST_CASE("in a folder with both forms, density reads the colour pictures, and classification the grey pictures") {
  TemporaryFolder data;
  const DataFolder variable(data.path());
  const auto folder = data.path() / "cifar10";
  fs::create_directory(folder);
  const IdxFolder grey;
  for (const auto& file : fs::directory_iterator(grey.path())) fs::copy(file.path(), folder);
  const nlohmann::json density{{"objective", "density"}, {"dev", 4}};
  const auto by_name = [&](nlohmann::json parameters) {
    parameters["data"] = "cifar10";
    return load_task("image", parameters, folder);
  };
  CHECK(by_name({{"dev", 4}})->info().length == 24);
  check_mentions(message_of([&] { by_name(density); }),
                 {"density", "holds idx files, which are grey", "Missing: data_batch_1.bin, data_batch_2.bin", "test_batch.bin",
                  "cifar10/test_batch.bin"});
  auto with_black = density;  // a preset for classification may set `black`
  with_black["black"] = "absent";
  CHECK(load_images(folder, with_black)->digest() == load_images(folder, density)->digest());
  CHECK(load_images(folder, density)->info().length == 24);  // a folder of idx files with any name

  const CifarFolder colour;
  fs::copy(colour.file("test_batch.bin"), folder);
  for (const auto& load : {std::function([&] { by_name(density); }), std::function([&] { load_images(folder, density); })})
    check_mentions(message_of(load), {"Missing: data_batch_1.bin", "test_batch.bin"});
  for (int batch = 1; batch <= 5; ++batch) fs::copy(colour.file("data_batch_" + std::to_string(batch) + ".bin"), folder);
  CHECK(by_name(density)->info().geometry.channels == 3);
  CHECK(load_images(folder, density)->info().geometry.channels == 3);
  CHECK(by_name({{"dev", 4}})->info().length == 24);  // classification still reads the grey pictures
}

TEST_CASE("a single batch is divided among all three splits") {
  const std::string ending = GENERATE("", ".gz");
  TemporaryFolder folder;
  Bytes batch;
  for (unsigned i = 0; i < 10; ++i)
    for (const auto byte : gradients(static_cast<std::uint8_t>(i), i)) batch.push_back(byte);
  const auto file = folder.path() / ("test_batch.bin" + ending);
  write_bytes(file, batch);
  const auto load = [&](int dev, int seed) {
    return load_task("image", {{"data", file.string()}, {"dev", dev}, {"data_seed", seed}}, folder.path());
  };
  std::set<std::vector<std::int64_t>> orders;
  for (int seed = 0; seed < 3; ++seed) {
    const auto task = load(3, seed);
    CHECK((task->files() == std::vector{file}));
    CHECK(task->size(Split::kTrain) == 4);
    CHECK(task->size(Split::kDev) == 3);
    CHECK(task->size(Split::kTest) == 3);
    std::vector<std::int64_t> labels;
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
      for (const auto& example : read_examples(*task, split)) labels.push_back(example.label);
    CHECK(std::set(labels.begin(), labels.end()).size() == 10);  // each label occurs once
    orders.insert(labels);
  }
  CHECK(orders.size() == 3);
  check_mentions(message_of([&] { load(5, 0); }), {"dev = 5", "none of 10 examples for training"});
}
