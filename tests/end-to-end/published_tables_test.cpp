// Compares the numbers of papers (published.csv) with the numbers that studies list beside their trials. Only the numbers named
// here may be missing, and no number may differ.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/host/study/study.h"
#include "tests/end-to-end/all_studies.h"
#include "tests/support/catch.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Number in a paper: "arXiv 2108.04962, Table 2: bigbird, text, 1024, step time".
struct Figure {
  std::string table, system, task, length, metric, value;
  bool operator<(const Figure& other) const { return words() < other.words(); }
  std::string words() const { return table + ": " + system + ", " + task + ", " + length + ", " + metric + " = " + value; }
};

std::string digits(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

/// Splits a line into fields; fields in quotes may contain commas.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      all.emplace_back();
    else
      all.back() += c;
  }
  return all;
}

/// Translates a paper's name of a metric into the name in studies.
std::string metric_of(const std::string& published) {
  static const std::map<std::string, std::string> kNames = {
      {"accuracy", "test/accuracy"},          {"step time", "train/step_time"},       {"speed", "train/examples_per_second"},
      {"peak memory", "memory/peak_tensor"},  {"test perplexity", "test/perplexity"}, {"bits per byte", "test/bits_per_byte"},
      {"bits/dim", "test/bits_per_dimension"}};
  const auto found = kNames.find(published);
  return found == kNames.end() ? published : found->second;
}

/// Returns the published figures in a study's terms: the plugin, and the metric in its unit.
std::set<Figure> published() {
  std::ifstream in(fs::path(ABLATE_SOURCE_DIR) / "tests/end-to-end/published.csv");
  std::set<Figure> all;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto field = fields(line);
    const auto source = field.at(0).substr(field[0].find("arXiv"), std::string("arXiv 2108.04962").size());
    const bool numbered = field.at(1).size() == 1;
    auto figure = Figure{source + (numbered ? ", Table " : ", ") + field[1],
                         field.at(2),
                         field.at(4),
                         field.at(5),
                         metric_of(field.at(6)),
                         field.at(7)};
    if (figure.system == "transformer") figure.system = "softmax";
    // In Table 2, the rates of a row are part of the system's name.
    if (const auto rates = field.at(3).find("c=("); rates != std::string::npos)
      figure.system += " " + field[3].substr(rates + 2);
    if (figure.value.find_first_not_of("0123456789.") == std::string::npos) {
      constexpr double kBatch = 32;  // examples in a step; the Long Range Arena reports steps a second
      constexpr double kMiB = 1024;  // MiB in a paper's GB
      const auto& unit = field.at(8);
      const auto number = std::stod(figure.value);
      if (unit.starts_with("scaled of ")) {  // "scaled of N": guessing among N classes is 0, always right is 1
        const double classes = std::stod(unit.substr(std::string("scaled of ").size()));
        figure.value = digits(100 * (1 + (classes - 1) * number) / classes);
      } else {
        figure.value = digits(number * (unit == "steps/s" ? kBatch : unit == "GB" ? kMiB : 1));
      }
    }
    CHECK(all.insert(figure).second);
  }
  return all;
}

/// Returns the name of the row to which a trial belongs in a paper's table.
std::string system_of(const std::string& table, const json& trial) {
  const auto& all = trial.at("attention");
  const auto& attention = all.is_array() ? all.back() : all;  // in a list, the paper's own method is last
  const std::string plugin = attention.at("plugin");
  if (table == "arXiv 2108.04962, Table 5" && plugin == "adamra")
    return attention.at("routing") == "random"        ? "adamra routing=random"
           : attention.at("feature_map") == "softmax" ? "adamra attention=softmax"
                                                      : "adamra phi=" + attention.at("feature_map").get<std::string>();
  if ((table == "arXiv 2108.04962, Table 2" || table == "arXiv 2108.04962, Table 4") && plugin == "adamra") {
    std::string rates;
    for (const auto& rate : attention.at("rates")) rates += (rates.empty() ? "" : ",") + rate.get<std::string>();
    return plugin + " (" + rates + ")";
  }
  if (plugin == "delta" && attention.at("negative_eigenvalues") == true) return "delta, eigenvalues in [-1, 1]";
  if (plugin == "mixed") return attention.at("parts").at(0).at("plugin");
  if (table.ends_with("Papers with Code") && plugin != "infinity")
    return plugin + " " + trial.at("model").at("layers").dump() + " layers";
  return plugin;
}

std::string task_of(const json& task) {
  static const std::map<std::string, std::string> kData = {
      {"imagenet64", "imagenet-64"}, {"cifar10", "cifar-10"}, {"pg19", "pg-19"}};
  const std::string plugin = task.at("plugin");
  if (plugin == "bytes") return "text";
  if (plugin == "mad" || plugin == "formal") return task.at("kind");
  if (plugin != "lm" && !(plugin == "image" && task.at("objective") == "density")) return plugin;
  const auto found = kData.find(task.at("data"));
  return found == kData.end() ? task.at("data").get<std::string>() : found->second;
}

/// Returns the figures that a study lists beside its trials.
std::set<Figure> beside(const ablate::Study& study) {
  std::set<Figure> all;
  for (const auto& number : study.published) {
    const auto at = number.source.find("arXiv"), comma = number.source.find(", ", at);
    REQUIRE(comma != std::string::npos);
    const auto table = number.source.substr(at, number.source.find_first_of(",:", comma + 1) - at);
    const auto trial = study.trials.at(number.trial).resolved();
    const auto& task = trial.at("task");
    Figure figure{table, system_of(table, trial), task_of(task), "", number.metric, digits(number.value)};
    if (task.at("plugin") == "bytes") figure.length = task.at("length").dump();
    if (study.name == "lra-figure1" && table.ends_with("Table 3")) figure.length = "4096";  // the study has 4000
    all.insert(figure);
  }
  return all;
}

/// True if another study lists the figures of this study, too. The paper of the Long Range Arena does not say whether Text has
/// 1000 or 4000 bytes. AdaMRA's Figure 1 shows Tables 1 and 3.
bool second_of_figures(const ablate::Study& study) { return study.name == "lra-google-text-4k" || study.name == "lra-figure1"; }

}  // namespace

TEST_CASE("each published figure appears beside trials of exactly one study, except for the figures named here") {
  const auto papers = published();
  CHECK(papers.size() == 372);
  std::map<Figure, std::string> ours;  // study by figure
  for (const auto& study : studies())
    for (const auto& figure : beside(study)) {
      INFO(figure.words() << " in " << study.name);
      CHECK(papers.count(figure) == 1);
      if (second_of_figures(study)) continue;
      INFO("and in " << ours[figure]);
      CHECK(ours[figure].empty());
      ours[figure] = study.name;
    }

  std::set<std::string> missing;
  for (const auto& figure : papers)
    if (ours.count(figure) == 0) missing.insert(figure.table + ": " + figure.task + ", " + figure.metric);
  CHECK(missing == std::set<std::string>{
                       // All models failed. The paper has FAIL instead of a number, so lra-google-path-x lists no number.
                       "arXiv 2011.04006, Table 1: path-x, test/accuracy",
                       // Computed from other numbers.
                       "arXiv 2011.04006, Table 1: average, test/accuracy",
                       "arXiv 2108.04962, Table 1: average, test/accuracy",
                       "arXiv 2406.06484, MAD: average, test/accuracy",
                       "arXiv 2108.04962, Table 3: text, LRA score",
                       "arXiv 2108.04962, Table 3: text, SMAT",
                       // The ratio of two trials' times. The source does not describe the models.
                       "arXiv 2003.05997, text: cifar-10, speed ratio local:routing",
                       // The upper bound ln 2 of the divergence of two distributions.
                       "arXiv 2003.05997, text: pg-19, JSD bound",
                       // Mamba is older than Mamba-2 (mamba2), and has no plugin.
                       "arXiv 2406.06484, MAD of Mamba: average, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: compression, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: fuzzy-recall, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: in-context-recall, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: memorization, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: noisy-recall, test/accuracy",
                       "arXiv 2406.06484, MAD of Mamba: selective-copying, test/accuracy",
                       // LSTMs and Mamba have no plugin.
                       "arXiv 2411.12537, Table 5 (other models): modular-arithmetic, test/accuracy",
                       "arXiv 2411.12537, Table 5 (other models): parity, test/accuracy",
                       // This model started from GPT-2's weights. No trial does this.
                       "arXiv 2109.00301, Papers with Code: wikitext-103 from GPT-2, test/perplexity",
                   });
}

TEST_CASE("a study resolves with both set-ups, the published and the corrected one, whichever its file names") {
  const auto plugins = built_plugins();
  const auto check = [&](const std::string& file, const std::string& preset, const char* pooling) {
    const auto study =
        ablate::load_study(kExperiments / file, {"experiment.preset=" + preset, "experiment.name=other"}, plugins);
    CHECK(study.name == "other");
    for (const auto& trial : study.trials) CHECK(trial.resolved().at("model").at("pooling") == pooling);
  };
  for (const char* task : {"listops", "text", "retrieval", "image", "pathfinder"})
    check("long-range-arena/" + std::string(task) + ".toml", "lra-corrected", "mean");
  for (const char* table : {"table4", "table5"})
    check("adamra/" + std::string(table) + ".toml", "lra-nystromformer", "mean-all");
}

TEST_CASE("a paper's folder has small studies with their own name and no published number; other studies state their needs") {
  std::set<std::string> names, with_small;
  for (const auto& study : studies()) {
    INFO(study.file);
    CHECK(names.insert(study.name).second);
    const auto folder = study.file.parent_path();
    if (folder == kExperiments) continue;
    const bool small = study.file.stem().string().starts_with("small");
    if (small) {
      with_small.insert(folder.filename());
      CHECK(says(study.name, "small"));
      CHECK(study.published.empty());
    }
    CHECK(says(study.description, "No reproduction") == small);
    std::ifstream in(study.file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    CHECK((small || says(text, "Needs about ") || says(text, " on a CPU")));
  }
  CHECK(with_small ==
        std::set<std::string>{"adamra", "infinity-former", "long-range-arena", "performer", "routing-transformer"});
}
