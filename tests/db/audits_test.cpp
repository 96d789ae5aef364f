// Audits in a history, and the notes of a table about them.
#include <SQLiteCpp/SQLiteCpp.h>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr std::int64_t kSuite = 7;

nlohmann::json finding(const std::string& check, const std::string& verdict, const std::string& found) {
  return {{"check", check}, {"on", "dev"}, {"verdict", verdict}, {"found", found}};
}

Audit failed_audit(const std::string& digest, const std::string& task = "image") {
  return {digest,
          task,
          {{"pool", 2}, {"data", "my pictures"}},
          kSuite,
          100,
          "failed",
          {finding("chance", "passed", "fine"), finding("one rule", "failed", "no rule\nat all"),
           finding("one rule", "failed", "nor here"), finding("label by length", "failed", "long")}};
}

/// An experiment of two trials, over data with the digests a and b.
struct Study {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};

  Study() {
    const auto a = trial("softmax", {}, 1), b = trial("linear", {}, 1);
    put(store, "study", {a, b});
    for (const auto& [resolved, digest] : {std::pair(a, "a"), std::pair(b, "b")}) {
      auto attempt = done(resolved, 50);
      attempt.plugins = {{"attention", "softmax", "1.0.0", "c", "", "", {"passed", ""}}};
      store.put_attempt(attempt);
      store.put_parts({{attempt.key, {nlohmann::json::object(), {{"data", digest}, {"plugins", nlohmann::json::object()}}}}});
    }
  }
  std::vector<std::string> notes(TableRequest request = {}) const {
    request.experiments = {"study"};
    request.rows = {"attention"};
    request.suite = kSuite;
    auto notes = make_table(Reader(file), request).notes;
    std::erase_if(notes, [](const auto& note) { return has(note, "floors on these test examples"); });  // see floors_test.cpp
    return notes;
  }
};

const std::string kNote =
    "the data of image fail an audit: one rule, label by length: no rule at all; `ablate audit image --set 'data=my pictures' "
    "--set pool=2` shows all findings";

}  // namespace

TEST_CASE("findings about a task's data are stored by the data's digest, and the latest findings count") {
  Study study;
  CHECK_FALSE(study.store.audit("a", "image"));
  auto audit = failed_audit("a");
  study.store.put_audit(audit);
  const auto known = study.store.audit("a", "image");
  REQUIRE(known);
  CHECK(known->parameters == audit.parameters);
  CHECK(known->findings == audit.findings);
  CHECK(known->suite == kSuite);
  CHECK(known->audited_s == 100);
  CHECK(known->verdict == "failed");
  CHECK_FALSE(study.store.audit("a", "text"));
  CHECK_FALSE(study.store.audit("b", "image"));
  audit.verdict = "passed", audit.audited_s = 50;
  study.store.put_audit(audit);
  CHECK(study.store.audit("a", "image")->verdict == "passed");
}

TEST_CASE("a table reports failed audits that this suite ran on the table's data, each once") {
  Study study;
  CHECK(study.notes().empty());
  study.store.put_audit(failed_audit("c"));  // no trial has these data
  CHECK(study.notes().empty());
  auto audit = failed_audit("a");
  SECTION("the audit failed") {
    study.store.put_audit(audit);
    CHECK(study.notes() == std::vector{kNote});
    study.store.put_audit(failed_audit("b"));
    CHECK(study.notes() == std::vector{kNote, kNote});
  }
  SECTION("the audit passed") {
    audit.verdict = "passed";
    study.store.put_audit(audit);
    CHECK(study.notes().empty());
  }
  SECTION("another suite ran the audit") {
    audit.suite = kSuite - 1;
    study.store.put_audit(audit);
    CHECK(study.notes().empty());
  }
  SECTION("the command needs options to find plugins and history") {
    study.store.put_audit(audit);
    TableRequest request;
    request.check_options = [](const auto&) { return " --plugins build"; };
    request.database_option = " --db a.db";
    CHECK(study.notes(request).at(0).ends_with("--set pool=2 --plugins build --db a.db` shows all findings"));
  }
  SECTION("another program wrote the file") {
    study.store.put_audit(audit);
    SQLite::Database(study.file.string(), SQLite::OPEN_READWRITE).exec("UPDATE audit SET findings = '[[[' WHERE digest = 'a'");
    CHECK(study.notes().empty());
    CHECK_FALSE(study.store.audit("a", "image"));
  }
  SECTION("another program wrote an invalid audit") {
    audit.findings = {1, nullptr, {{"verdict", 3}}, {{"verdict", "failed"}}};
    study.store.put_audit(audit);
    CHECK(study.notes().at(0) ==
          "the data of image fail an audit: ; `ablate audit image --set 'data=my pictures' --set pool=2` shows all findings");
  }
}
