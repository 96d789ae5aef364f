// Studies that ship with ablate, and the check of their rates.
#include "core/host/study/start_checks.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using nlohmann::json;
using Names = std::vector<std::string>;

namespace {

/// Returns the catalog with the tasks of AdaMRA's tables, and with reformer, whose parameter the tables' preset sets.
ablate::Catalog catalog() {
  using namespace ablate;
  auto all = studies::catalog();
  for (auto& plugin : all.plugins)
    if (plugin.id == "image") plugin.parameters.push_back(describe(text("black", "\"token\"", "token|absent", "black")));
  all.plugins.push_back(studies::plugin(Kind::kTask, "text",
                                        {text("data", "\"imdb\"", "", "data"), integer("length", "4000", {1, 1e6}, "cut"),
                                         text("dev_from", "\"train\"", "train|test", "dev")}));
  all.plugins.push_back(
      studies::plugin(Kind::kAttention, "reformer", {boolean("across_buckets", "false", "other buckets, too")}));
  return all;
}

ablate::Study experiment(const std::string& name, const Names& overrides = {}) {
  return ablate::load_study(std::filesystem::path(ABLATE_SOURCE_DIR) / "experiments" / (name + ".toml"), overrides, catalog());
}

}  // namespace

TEST_CASE("Table 4 of the paper has ten rows of rates on two tasks") {
  const auto study = experiment("adamra/table4");
  CHECK(study.name == "adamra-table4");
  const std::vector<Names> rates = {{"1/4", "1/32"},
                                    {"1/8", "1/16", "1/32"},
                                    {"1/2", "1/8", "1/32"},
                                    {"1/2", "1/4", "1/8", "1/16"},
                                    {"1/4", "1/8", "1/16", "1/32"},
                                    {"1/8", "1/16", "1/32", "1/64"},
                                    {"1/2", "1/4", "1/8", "1/16", "1/32", "1/64"},
                                    {"1/2", "1/4", "1/8", "1/16", "1/32", "1/64", "1/128"},
                                    {"1/2", "1/2", "1/2"},
                                    {"1/4", "1/4", "1/4"}};
  constexpr std::size_t kSeeds = 3;
  REQUIRE(study.trials.size() == 2 * kSeeds * rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto& resolved = study.trials[2 * kSeeds * i].resolved();
    CHECK(resolved.at("attention").at("rates").get<Names>() == rates[i]);
    CHECK(resolved.at("attention").at("feature_map") == "relu");
    CHECK(resolved.at("attention").at("router_gradient") == "straight-through");  // forward pass as in the paper
    CHECK(resolved.at("task").at("data") == "cifar10");
    CHECK(resolved.at("train").at("steps") == 35000);
    CHECK(resolved.at("train").at("batch") == 256);
    CHECK(resolved.at("train").at("warmup") == 175);
    const auto& text = study.trials[(2 * i + 1) * kSeeds].resolved();
    CHECK(text.at("attention") == resolved.at("attention"));
    CHECK(text.at("model") == resolved.at("model"));
    CHECK(text.at("task").at("data") == "imdb");
    CHECK(text.at("task").at("dev_from") == "test");
    CHECK(text.at("train").at("steps") == 20000);
  }
  CHECK(study.trials[0].label.starts_with("attention.rates=1/4,1/32 task=image "));
  CHECK(experiment("adamra/table4", {"train.steps=200", "train.warmup=20"}).trials.size() == 60);
}

TEST_CASE("Table 5 of the paper has five models") {
  const auto study = experiment("adamra/table5");
  Names models;  // models of the first task and seed
  for (std::size_t i = 0; i < study.trials.size(); i += 6)
    models.push_back(study.trials[i].label.substr(0, study.trials[i].label.find(" task=image")));
  CHECK(models == Names{"attention=softmax", "attention=adamra attention.feature_map=relu attention.routing=random",
                        "attention=adamra attention.feature_map=softmax attention.routing=learned",
                        "attention=adamra attention.feature_map=elu+1 attention.routing=learned",
                        "attention=adamra attention.feature_map=relu attention.routing=learned"});
  CHECK(study.trials[6].resolved().at("attention").at("rates") == json{"1/2", "1/8", "1/32"});
  CHECK(study.trials[9].resolved().at("task").at("plugin") == "text");
}

TEST_CASE("the ListOps study has six attentions and three seeds") {
  const auto study = experiment("listops");
  CHECK(study.trials.size() == 18);
  CHECK(study.trials[0].resolved().at("train").at("warmup") == 1000);
}

TEST_CASE("the examples of docs/studies.md are right") {
  std::ifstream in(std::filesystem::path(ABLATE_SOURCE_DIR) / "docs" / "studies.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}}, fence = "```toml\n";
  std::vector<std::size_t> counts;
  std::size_t matched = 0;
  const auto by_hidden = [](const std::vector<ablate::Trial>& trials) {
    std::vector<ablate::ModelSizes> all;
    for (const auto& trial : trials) all.push_back({.parameters = 1000 * trial.spec.model.hidden});
    return all;
  };
  for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const auto text = page.substr(at, page.find("```", at) - at);
    // Examples 2 to 4 have a grid without a task, example 6 has only a table, and example 7 has only an attention.
    const bool whole = text.find("[task]") != std::string::npos, table = text.starts_with("[table.");
    const std::string task = "[task]\nplugin = \"image\"\n", attention = "[attention]\nplugin = \"softmax\"\n";
    const auto study = studies::load(whole ? text : task + (table ? attention : "") + text, {}, studies::catalog(), by_hidden);
    counts.push_back(study.trials.size());
    matched += study.matched.size();
  }
  CHECK(counts == std::vector<std::size_t>{9, 17, 18, 16, 12, 2, 1, 1});
  CHECK(matched == 1);
}

TEST_CASE("a rate that leaves less than one slot is reported where it is written") {
  const auto study = experiment("adamra/table4", {"seeds=2"});
  const auto length = [&](std::int64_t tokens) {
    return [tokens](const ablate::Trial& trial) {
      CHECK((trial.spec.task.id == "image" || trial.spec.task.id == "text"));
      return tokens;
    };
  };
  CHECK(check_rates(study, catalog(), length(1024)).empty());
  CHECK(check_rates(study, catalog(), length(128)).empty());
  const auto found = check_rates(study, catalog(), length(127));
  REQUIRE(found.size() == 1);
  CHECK(found[0].message ==
        "attention.rates: 1/128 leaves less than one slot of a sequence of 127 tokens; the smallest rate is 1/127");
  CHECK(found[0].where.line == study.trials[28].where.find("attention.rates")->line);
  CHECK(found[0].where.line >= 40);                              // in the rows
  CHECK(check_rates(study, catalog(), length(63)).size() == 4);  // 1/64 in three rows, 1/128 in one
}

TEST_CASE("a default rate is reported at its plugin") {
  const auto study =
      studies::load("[task]\nplugin = \"image\"\n[attention]\nplugin = \"compressed\"\ncompression.plugin = \"rbf\"\n");
  const auto found = check_rates(study, studies::catalog(), [](const auto&) { return 3; });
  REQUIRE(found.size() == 1);
  CHECK(found[0].where.line == 4);
  CHECK(found[0].message.find("attention.rate: 1/4 leaves less than one slot") == 0);
}

TEST_CASE("a rate beside a fixed number of slots has no effect and is not compared with the length") {
  auto catalog = studies::catalog();
  for (auto& plugin : catalog.plugins)
    if (plugin.id == "compressed") {
      for (auto& parameter : plugin.parameters)
        if (parameter.name == "rate") parameter.when = "slots = 0";
      plugin.parameters.push_back(ablate::describe(ablate::integer("slots", "0", {0, 65536}, "slots")));
    }
  const auto found = [&](const std::string& slots) {
    const auto study = studies::load(
        "[task]\nplugin = \"image\"\n[attention]\nplugin = \"compressed\"\ncompression.plugin = \"rbf\"\nslots = " + slots, {},
        catalog);
    return check_rates(study, catalog, [](const auto&) { return 3; }).size();
  };
  CHECK(found("0") == 1);
  CHECK(found("2") == 0);
}
