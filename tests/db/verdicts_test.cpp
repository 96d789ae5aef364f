// Marks and notes of a table for plugins that failed their checks or were never checked.
#include <nlohmann/json.hpp>

#include "db/questions/attempts/show_attempt.h"
#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const PluginVerdict kPassed{"passed", ""}, kUnchecked, kFailed{"failed", "padding, causal"};

/// An experiment over attentions and two tasks. The code identity of a plugin is its name.
struct Study {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};
  std::vector<nlohmann::json> trials;

  void add(const std::string& attention, const PluginVerdict& verdict, const PluginVerdict& task = kPassed, int pool = 2) {
    auto resolved = trial(attention, {}, 1);
    resolved["task"]["pool"] = pool;
    trials.push_back(resolved);
    put(store, "study", trials);
    auto attempt = done(resolved, 50);
    attempt.plugins = {{"attention", attention, "1.0.0", attention, "", "", verdict},
                       {"task", "image", "1", "image", "", "", task}};
    store.put_attempt(attempt);
  }
  void add(const UsedPlugin& attention, const PluginVerdict& task = kPassed) {
    add(attention.id, kPassed);
    auto attempt = done(trials.back(), 50);
    attempt.plugins = {attention, {"task", "image", "1", "image", "", "", task}};
    store.put_attempt(attempt);
  }
  Table table(TableRequest request = {}) const {
    request.experiments = {"study"};
    if (request.rows.empty() && request.columns.empty()) request.rows = {"attention"};
    request.metrics = {"test/accuracy"};
    return make_table(Reader(file), request);
  }
};

/// A plugin that ran in a causal place at `length` positions, and passed a check up to `checked` positions.
UsedPlugin causal_at(const std::string& id, std::int64_t length, std::int64_t checked) {
  UsedPlugin plugin{"attention", id, "1.0.0", id, "", "", kPassed, "causal", length};
  if (checked > 0) plugin.verdict.lengths = {{"bidirectional", 9000}, {"causal", checked}};
  return plugin;
}

const std::string kEdited = "checks them (if a plugin was edited since, its trials must run again)";

}  // namespace

TEST_CASE("rows with plugins that failed or were never checked are marked, and a note names them with the remedy") {
  Study study;
  study.add("softmax", kPassed);
  study.add("linear", kUnchecked);
  study.add("mine", kFailed);
  const auto table = study.table();
  CHECK(table.checked(0) == Checked::kPassed);
  CHECK(table.checked(1) == Checked::kUnchecked);
  CHECK(table.checked(2) == Checked::kFailed);
  const std::vector<std::string> notes = {
      "! with a plugin that fails its checks: mine (padding, causal); `ablate check mine` shows the errors",
      "? never checked: linear; `ablate check linear` " + kEdited};
  CHECK(table.notes == notes);
  CHECK(to_text(table, Format::kText) ==
        "study: 3 trials; n = 1\n\n"
        "   attention  test/accuracy (%)\n"
        "   softmax    50.00\n"
        "?  linear     50.00\n"
        "!  mine       50.00\n\n"
        "note: " +
            notes[0] + "\nnote: " + notes[1] + "\n");
  CHECK(has(to_text(table, Format::kMarkdown), "|  | attention | test/accuracy (%) |\n| --- | --- | --- |\n|  | softmax |"));
  CHECK(has(to_text(table, Format::kMarkdown), "| ! | mine |"));
  CHECK(has(to_text(table, Format::kCsv), ",unsettled,checked\n"));
  CHECK(has(to_text(table, Format::kCsv), "mine,test/accuracy,%,50,,,1,0,,,,,false,failed\n"));
  CHECK(has(to_text(table, Format::kCsv), "softmax,test/accuracy,%,50,,,1,0,,,,,false,passed\n"));
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["cells"][0]["checked"] == "passed");
  CHECK(json["cells"][1]["checked"] == "unchecked");
  CHECK(json["cells"][2]["checked"] == "failed");
}

TEST_CASE("if no plugin was ever checked, no row is marked, and a note has the command that checks all plugins") {
  Study study;
  study.add("softmax", kUnchecked, kUnchecked);
  study.add("linear", kUnchecked, kPassed, 4);  // a checked task does not make the row checked
  const auto table = study.table();
  CHECK(table.checked(0) == Checked::kUnchecked);
  CHECK(table.notes.back() == "never checked: linear, softmax, image; `ablate check image linear softmax` " + kEdited);
  for (const auto format : {Format::kText, Format::kMarkdown}) CHECK_FALSE(has(to_text(table, format), "?"));
  CHECK(has(to_text(table, Format::kText), "\nattention  test/accuracy (%)\nsoftmax"));
  const auto columns = study.table({.rows = {"task"}, .columns = {"attention"}});
  CHECK_FALSE(has(to_text(columns, Format::kText), "?"));
  study.add("mine", kFailed);
  CHECK(has(to_text(study.table(), Format::kText), "\n?  softmax"));
}

TEST_CASE("a table of checked plugins has no marks and no column for marks") {
  Study study;
  study.add("softmax", kPassed);
  study.add("linear", kPassed);
  CHECK(study.table().notes.empty());
  CHECK(has(to_text(study.table(), Format::kText), "\nattention  test/accuracy (%)\nsoftmax"));
}

TEST_CASE("a number has the worst verdict of its plugins, including the task") {
  Study study;
  study.add("softmax", kPassed, kFailed);
  study.add("linear", kUnchecked, kFailed);
  study.add("mine", kUnchecked, kPassed);
  const auto table = study.table();
  CHECK(table.checked(0) == Checked::kFailed);
  CHECK(table.checked(1) == Checked::kFailed);
  CHECK(table.checked(2) == Checked::kUnchecked);
  CHECK(has(table.notes.at(0), "that fails its checks: image (padding, causal);"));
  CHECK(has(table.notes.at(1), "? never checked: linear, mine;"));
}

TEST_CASE("if only some numbers of a row are affected, only these numbers are marked") {
  Study study;
  study.add("softmax", kPassed);
  study.add("linear", kUnchecked);
  study.add("mine", kFailed);
  const auto columns = study.table({.rows = {"task"}, .columns = {"attention"}});
  for (const auto* part : {"\nimage  50.00 ", " ? 50.00 ", " ! 50.00\n"}) CHECK(has(to_text(columns, Format::kText), part));
  Study averaged;  // a cell over two trials with different verdicts
  averaged.add("softmax", kPassed, kPassed, 2);
  averaged.add("softmax", kFailed, kPassed, 4);
  CHECK(averaged.table().checked(0) == Checked::kFailed);
}

TEST_CASE("the current verdict on a trial's code replaces the verdict at the time of the run") {
  Study study;
  study.add("softmax", kUnchecked);
  study.add("linear", kPassed);
  study.add("mine", kFailed);
  std::vector<std::string> identities;
  const auto today = [&](const UsedPlugin& plugin) -> std::optional<PluginVerdict> {
    identities.push_back(plugin.code_identity);
    if (plugin.kind != "attention" || plugin.code_identity == "mine") return std::nullopt;
    return plugin.code_identity == "softmax" ? kPassed : PluginVerdict{"failed", "half"};
  };
  const auto table = study.table({.verdict_today = today});
  CHECK(table.checked(0) == Checked::kPassed);
  CHECK(table.checked(1) == Checked::kFailed);
  CHECK(table.checked(2) == Checked::kFailed);
  CHECK(has(table.notes.at(0), "linear (half), mine (padding, causal)"));
  CHECK(identities.size() == 4);  // the verdict is requested once for each code
}

TEST_CASE("failed trials are marked, too; trials that have not run or have no known plugins are not") {
  Study study;
  study.add("softmax", kPassed);
  study.trials.push_back(trial("never-run", {}, 1));
  study.trials.push_back(trial("old", {}, 1));
  study.trials.push_back(trial("crashed", {}, 1));
  put(study.store, "study", study.trials);
  study.store.put_attempt(done(study.trials[2], 40));
  auto crash = failed(study.trials[3], "signal 11");
  crash.plugins = {{"attention", "crashed", "1.0.0", "crashed", "", "", kFailed}};
  study.store.put_attempt(crash);
  const auto table = study.table();
  CHECK(table.checked(1) == Checked::kUnknown);
  CHECK(table.checked(2) == Checked::kUnknown);
  CHECK(table.checked(3) == Checked::kFailed);
  CHECK(has(to_text(table, Format::kCsv), "never-run,test/accuracy,%,,,,0,1,missing,,,,false,\n"));
}

TEST_CASE("an attempt shows the verdicts that were known when it started") {
  Study study;
  study.add("mine", kFailed);
  const auto plugins = show_attempt(Reader(study.file), "1")["plugins"];
  REQUIRE(plugins.size() == 2);
  CHECK(plugins[0]["verdict"] == "failed");
  CHECK(plugins[0]["failed_checks"] == "padding, causal");
  CHECK(plugins[1]["verdict"] == "passed");
}

TEST_CASE("a history stores the latest verdict of the latest suite for each plugin's code") {
  Study study;
  const auto plugin = [](const std::string& code, const PluginVerdict& verdict) {
    return UsedPlugin{"attention", "mine", "", code, "", "", verdict};
  };
  const auto known = [&](const std::string& code) {
    const auto found = Reader(study.file).verdict(plugin(code, {}));
    return found ? found->plugin.verdict.verdict + found->plugin.verdict.failed_checks : "";
  };
  study.store.put_verdicts({{plugin("a", kFailed), 4, 100}, {plugin("b", kPassed), 4, 100}});
  CHECK(known("a") == "failedpadding, causal");
  CHECK(known("b") == "passed");
  CHECK(known("c") == "");
  study.store.put_verdicts({{plugin("a", kPassed), 4, 99}});
  CHECK(known("a") == "failedpadding, causal");
  study.store.put_verdicts({{plugin("a", kPassed), 3, 101}});
  CHECK(known("a") == "failedpadding, causal");
  study.store.put_verdicts({{plugin("a", kPassed), 4, 101}, {plugin("b", kFailed), 5, 1}});
  CHECK(known("a") == "passed");
  CHECK(known("b") == "failedpadding, causal");
  CHECK_FALSE(Reader(study.file).verdict({"task", "mine", "", "a", "", ""}));
}

TEST_CASE("rows with sequences longer than the checked length are marked, and a note has that length") {
  Study study;
  study.add(causal_at("short", 2113, 2113));
  study.add(causal_at("linear", 4500, 2113));
  study.add(causal_at("mine", 8000, 1003));
  study.add(causal_at("before", 4500, 0));  // an older program did not record the length
  const auto table = study.table();
  CHECK(table.checked(0) == Checked::kPassed);
  CHECK(table.checked(1) == Checked::kBeyond);
  CHECK(table.checked(2) == Checked::kBeyond);
  CHECK(table.checked(3) == Checked::kPassed);
  CHECK(table.notes ==
        std::vector<std::string>{
            "> longer than the checked lengths: linear (checked up to 2,113 tokens, used at 4,500), mine (checked "
            "up to 1,003 tokens, used at 8,000); `ablate check linear mine --length 8000` checks them"});
  CHECK(has(to_text(table, Format::kText),
            "\n   short      50.00\n>  linear     50.00\n>  mine       50.00\n   before     50.00\n"));
  CHECK(has(to_text(table, Format::kCsv), "linear,test/accuracy,%,50,,,1,0,,,,,false,beyond\n"));
  study.add("wrong", kFailed);
  CHECK(study.table().checked(2) == Checked::kBeyond);
  CHECK(study.table().notes.size() == 2);
  Study of_unchecked_task;  // an unchecked task marks no row, because it would mark every row
  of_unchecked_task.add(causal_at("linear", 4500, 2113), kUnchecked);
  CHECK(has(to_text(of_unchecked_task.table(), Format::kText), "\n>  linear"));
}

TEST_CASE("the checked length of a plugin is the longest in any history, by place and suite") {
  Study study;
  study.add(causal_at("linear", 4500, 2113));
  const auto tell = [](Store& store, const std::string& place, std::int64_t length, std::int64_t suite, std::int64_t when) {
    UsedPlugin plugin{"attention", "linear", "", "linear", "", "", kPassed};
    plugin.verdict.lengths = {{place, length}};
    store.put_verdicts({{plugin, suite, when}});
  };
  const auto checked = [&] {
    const Reader reader(study.file);
    const auto today = [&](const UsedPlugin& plugin) -> std::optional<PluginVerdict> {
      const auto known = reader.verdict(plugin);
      return known ? std::optional(known->plugin.verdict) : std::nullopt;
    };
    return study.table({.verdict_today = today}).checked(0);
  };
  CHECK(checked() == Checked::kBeyond);
  tell(study.store, "bidirectional", 5000, 8, 100);
  CHECK(checked() == Checked::kPassed);  // the verdict has no length for the place "causal"
  tell(study.store, "causal", 2113, 8, 200);
  CHECK(checked() == Checked::kBeyond);
  const auto other = study.folder / "other.db";
  {
    Store elsewhere(other);
    tell(elsewhere, "causal", 4500, 8, 50);  // an earlier check, of a longer sequence
  }
  study.store.merge(OtherHistory(other));
  CHECK(checked() == Checked::kPassed);
  tell(study.store, "causal", 2113, 8, 300);
  CHECK(checked() == Checked::kPassed);
  tell(study.store, "causal", 2113, 9, 400);  // a newer suite has not checked this length
  CHECK(checked() == Checked::kBeyond);

  Store merged(study.folder / "merged.db");
  merged.merge(OtherHistory(study.file));
  const Reader reader(study.folder / "merged.db");
  CHECK(make_table(reader, {.experiments = {"study"}, .metrics = {"test/accuracy"}}).checked(0) == Checked::kBeyond);
}
