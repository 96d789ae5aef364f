// Files of attempts in a history: lists, limits, merges, exports, and removal with their experiment.
#include "db/history/artifacts.h"

#include <sqlite3.h>

#include <nlohmann/json.hpp>

#include "db/history/experiments.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/exports/export_weights.h"
#include "tests/db/ask.h"
#include "tests/db/commands.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

namespace fs = std::filesystem;

std::string uid(char digit) { return std::string(32, digit); }

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// Stores an attempt with a file of output that is `age` seconds old.
void put_with_output(Store& store, const nlohmann::json& resolved, char digit, const std::string& text, int age,
                     std::int64_t of_bytes = 0) {
  auto attempt = done(resolved, 60);
  attempt.uid = uid(digit);
  attempt.artifacts = {{kOutput, static_cast<std::int64_t>(text.size()), std::max<std::int64_t>(of_bytes, text.size())}};
  const auto file = artifact_file(store.file(), kOutput, attempt.uid);
  write(file, text);
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(age));
  store.put_attempt(attempt);
}

fs::path output(const fs::path& history, char digit) { return artifact_file(history, kOutput, uid(digit)); }

const auto kOne = trial("softmax", {}, 1), kTwo = trial("softmax", {}, 2), kThree = trial("linear", {}, 1);

/// Returns the content of a safetensors file: header length, header, eight bytes of tensors.
std::string safetensors() {
  const std::string header = R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  return text + header + std::string("\0\1\2\3\xff\x1b\n\0", 8);
}

}  // namespace

TEST_CASE("an attempt's uid names its files in every history; an attempt without a uid gets a new one") {
  Folder folder;
  Store store(folder / "a.db");
  put(store, "study", {kOne, kTwo});
  put_with_output(store, kOne, 'a', "text", 0);
  store.put_attempt(done(kTwo, 1));
  const auto rows = ask(folder / "a.db", "SELECT uid FROM attempts ORDER BY attempt");
  CHECK(has(rows, uid('a')));
  CHECK(ask(folder / "a.db", "SELECT count(DISTINCT uid) FROM attempts").find('2') != std::string::npos);
  CHECK(output(folder / "a.db", 'a') == folder / ("a.db.output/" + uid('a') + ".txt"));
  CHECK(artifact_file("a.db", kOutput, "../x").empty());
  CHECK(artifact_file("a.db", "else", uid('a')).empty());
}

TEST_CASE("show reports the path of the complete output, or that it was cut, was removed or is missing") {
  Commands ablate;
  ablate.add = [](CLI::App& app, const DatabaseFile& database, int& exit_code) {
    add_questions(app, database, exit_code);
    add_db(app, database, exit_code);
  };
  {
    Store store(ablate.file());
    put(store, "long", {kTwo, kThree});
    put_with_output(store, kTwo, 'a', std::string(2048, 'x'), 20, 4096);
    put_with_output(store, kThree, 'b', std::string(1024, 'y'), 10);
  }
  const auto cut = ablate("show 3");
  CHECK(has(cut, "a.db.output/" + uid('a') + ".txt, the first 2 KiB of 4 KiB"));
  CHECK_FALSE(has(cut, "removed"));
  CHECK(has(ablate("show 4"), uid('b') + ".txt, 1 KiB\n"));
  CHECK_FALSE(has(ablate("show 1"), "whole output"));

  write(ablate.file().string() + ".output/" + uid('c') + ".txt", "of a killed run");
  write(ablate.file().string() + ".output/notes.txt", "of a person");
  const auto checked = ablate("db check");
  CHECK(has(checked, "a.db.output: 3 files, "));
  CHECK(has(checked, uid('c') + ".txt: no recorded attempt has this file, but a running attempt may\n"));
  CHECK_FALSE(has(checked, uid('a') + ".txt: no"));

  fs::remove(output(ablate.file(), 'b'));
  CHECK(has(ablate("show 4"), "1 KiB; missing: "));
  const auto gone = Store(ablate.file()).limit_output(100);
  CHECK(gone.files == 1);
  CHECK(has(ablate("show 3"), "of 4 KiB; removed "));
  CHECK(fs::exists(ablate.file().string() + ".output/notes.txt"));
}

TEST_CASE("above the limit the oldest output files are removed, and only as many as necessary") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  put(store, "study", {kOne, kTwo, kThree});
  put_with_output(store, kOne, 'a', std::string(100, 'x'), 10);
  put_with_output(store, kTwo, 'b', std::string(100, 'x'), 30);
  put_with_output(store, kThree, 'c', std::string(100, 'x'), 20);
  CHECK(store.limit_output(300).files == 0);
  const auto gone = store.limit_output(299);
  CHECK(gone.files == 1);
  CHECK(gone.bytes == 100);
  CHECK_FALSE(fs::exists(output(file, 'b')));
  CHECK(fs::exists(output(file, 'a')));
  CHECK(fs::exists(output(file, 'c')));
  CHECK(ask(file, "SELECT name FROM artifact WHERE removed_us > 0").find(uid('b')) != std::string::npos);
  CHECK(store.limit_output(0).files == 2);
  CHECK_FALSE(fs::exists(folder / "a.db.output"));
}

TEST_CASE("only the files of an experiment's own attempts are deleted with the experiment") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    put(store, "gone", {kOne, kTwo});
    put(store, "kept", {kTwo});
    put_with_output(store, kOne, 'a', "of gone", 0);
    put_with_output(store, kTwo, 'b', "of both", 0);
    write(folder / "else.txt", "somebody's");
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
    REQUIRE(sqlite3_exec(database,
                         "INSERT INTO artifact VALUES ('output', '../else.txt', 1, 1, 1, NULL), ('', '', 1, 1, 1, NULL)",
                         nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
  }
  const auto files = delete_experiment(file, "gone", deletion_of(Reader(file), "gone"), true, folder / "backup.db");
  CHECK(files.files == 1);
  CHECK(files.bytes == 7);
  CHECK_FALSE(fs::exists(output(file, 'a')));
  CHECK(content(output(file, 'b')) == "of both");
  CHECK(content(folder / "else.txt") == "somebody's");
  CHECK(has(ask(file, "SELECT count(*) FROM artifact"), "1"));
}

TEST_CASE("a merge copies the files of new attempts once") {
  Folder folder;
  const auto a = folder / "a.db", b = folder / "b.db";
  {
    Store from(b);
    put(from, "study", {kOne, kTwo});
    put_with_output(from, kOne, 'a', "one", 0);
    put_with_output(from, kTwo, 'b', "two", 0);
  }
  fs::remove(output(b, 'b'));
  Store store(a);
  const auto merged = store.merge(OtherHistory(b));
  CHECK(merged.lacked.size() == 2);
  CHECK(merged.copied.files == 1);
  CHECK(content(output(a, 'a')) == "one");
  CHECK(content(output(b, 'a')) == "one");
  CHECK(store.merge(OtherHistory(b)).copied.files == 0);
  CHECK(show_attempt(Reader(a), "1").at("files").size() == 1);
}

TEST_CASE("a merge copies files that an interrupted merge did not copy, except files that were removed here") {
  Folder folder;
  const auto a = folder / "a.db", b = folder / "b.db";
  {
    Store from(b);
    put(from, "study", {kOne, kTwo});
    put_with_output(from, kOne, 'a', "one", 0);
    put_with_output(from, kTwo, 'b', "twoo", 10);
  }
  Store store(a);
  store.merge(OtherHistory(b));
  fs::remove(output(a, 'a'));
  CHECK(store.limit_output(3).files == 1);  // 'b' is removed, and recorded as removed
  const auto again = store.merge(OtherHistory(b));
  CHECK(again.attempts == 0);
  CHECK(again.copied.files == 1);
  CHECK(content(output(a, 'a')) == "one");
  CHECK_FALSE(fs::exists(output(a, 'b')));
}

TEST_CASE("before an experiment is deleted, ablate lists the files that the copy of the history will lack") {
  Commands ablate;
  ablate.add = add_experiment;
  {
    Store store(ablate.file());
    put(store, "gone", {kThree});
    put_with_output(store, kThree, 'a', "of gone", 0);
  }
  CHECK(has(ablate("experiment delete gone"),
            "and 1 file of output, weights and checkpoints, 7 bytes, which the copy will lack"));
  fs::remove(output(ablate.file(), 'a'));
  CHECK_FALSE(has(ablate("experiment delete gone"), "which the copy will lack"));
}

TEST_CASE("exported weights are the stored tensors, with their origin") {
  Commands ablate;
  auto attempt = done(kTwo, 61);
  attempt.uid = uid('d');
  attempt.plugins = {{"attention", "softmax", "1.0.0", "c0de", "b1nary", "/lib/softmax.so"}};
  attempt.artifacts = {{kWeights, 8, 8}};
  const auto kept = artifact_file(ablate.file(), kWeights, attempt.uid), out = ablate.file().parent_path() / "w.safetensors";
  {
    Store store(ablate.file());
    put(store, "weighty", {kTwo});
    CHECK(store.with_weights({key_of(kTwo)}).empty());
    store.put_attempt(attempt);
    store.put_attempt(done(kTwo, 62));  // later, without weights
    CHECK(store.with_weights({key_of(kTwo), key_of(kOne)}) == std::set{key_of(kTwo)});
  }
  write(kept, safetensors());
  CHECK(ablate("export weights " + key_of(kTwo).substr(0, 12) + " --out " + out.string()).empty());
  CHECK(ablate.exit_code == 0);
  const auto text = content(out);
  REQUIRE(text.size() > 16);
  const auto length = static_cast<unsigned char>(text[0]) + 256U * static_cast<unsigned char>(text[1]);
  const auto header = nlohmann::json::parse(text.substr(8, length));
  CHECK(text.substr(8 + length) == safetensors().substr(safetensors().size() - 8));
  CHECK(length % 8 == 0);
  CHECK(header.at("a.weight") == nlohmann::json::parse(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"));
  const auto& about = header.at("__metadata__");
  CHECK(about.at("key") == key_of(kTwo));
  CHECK(about.at("uid") == uid('d'));
  CHECK(about.at("attempt") == "3");
  CHECK(about.at("experiments") == "weighty");
  CHECK(nlohmann::json::parse(about.at("settings").get<std::string>()) == kTwo);
  CHECK(nlohmann::json::parse(about.at("code").get<std::string>()) == nlohmann::json{{"softmax", "c0de"}});

  CHECK(has(ablate("export weights 4 --out " + out.string()), "attempt 4 has no kept weights"));
  CHECK(has(ablate("export weights 3"), "--out is required"));
  write(kept, "no tensors");
  CHECK(has(ablate("export weights 3 --out " + out.string()), "found no header, expected a safetensors file"));
  CHECK(content(out) == text);
}
