// The transactions plugin on small files that the tests write.
#include <cmath>
#include <map>
#include <set>

#include "tests/plugins/transactions_files.h"
#include "tests/plugins/zip_files.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

struct Token {
  float amount, days;
  std::int64_t type, operation, category;
  bool operator==(const Token&) const = default;
};

struct Sequence {
  std::vector<Token> tokens;
  std::int64_t woman, source;
};

using ByAccount = std::map<int, Sequence>;

/// Reads one split. The key of a sequence is the account number that describe() returns.
ByAccount read_split(const Task& task, const TaskInfo& info, Split split) {
  ByAccount all;
  const auto n = static_cast<std::size_t>(info.length);
  for (std::int64_t index = 0; index < task.size(split); ++index) {
    std::vector<std::int64_t> ids[3];
    std::vector<float> reals[2];
    for (auto& one : ids) one.assign(n, 0);
    for (auto& one : reals) one.assign(n, 0);
    std::vector<std::uint8_t> present(n, 1);
    std::int64_t target = -1, source = 0;
    task.read(split, {&index, 1},
              {.length = info.length,
               .ids = {{}, {}, ids[0], ids[1], ids[2]},
               .reals = {reals[0], reals[1], {}, {}, {}},
               .present = {present},
               .targets = {&target, 1},
               .slices = {&source, 1}});
    const auto tokens = static_cast<std::size_t>(std::ranges::count(present, 1));
    REQUIRE((tokens == n || present[tokens] == 0));
    Sequence sequence{{}, target, source};
    for (std::size_t i = 0; i < tokens; ++i)
      sequence.tokens.push_back({reals[0][i], reals[1][i], ids[0][i], ids[1][i], ids[2][i]});
    const auto text = task.describe(split, index);
    CHECK((text.find(target == 1 ? " of a woman " : " of a man ") != std::string::npos));
    REQUIRE(all.emplace(std::stoi(text.substr(std::string("account ").size())), sequence).second);
  }
  return all;
}

struct Loaded {
  std::unique_ptr<Task> task;
  ByAccount splits[3], all;

  explicit Loaded(const BerkaFolder& files, json changes = {}) {
    changes["data"] = files.path();
    task = load_task("transactions", changes, files.path());
    for (int split = 0; split < 3; ++split) {
      splits[split] = read_split(*task, task->info(), static_cast<Split>(split));
      all.insert(splits[split].begin(), splits[split].end());
    }
  }
};

std::string refused(const BerkaFolder& files, const json& changes = json::object()) {
  return message_of([&] { Loaded(files, changes); });
}

double days_between(const Row& a, const Row& b) {
  using namespace std::chrono;
  const auto day = [](const Row& row) {
    return sys_days(year(row.date[0]) / row.date[1] / row.date[2]).time_since_epoch().count();
  };
  return static_cast<double>(day(b) - day(a));
}

}  // namespace

TEST_CASE("the published form and both translations give the same sequences") {
  const auto rows = random_rows(1, 60, 1);
  const std::pair<Form, std::string> forms[] = {
      {kPublished, "trans.asc"}, {kDated, "trans_to_1994.csv.gz"}, {kTranslated, "trans_loans.csv"}};
  std::set<std::string> digests;
  for (const auto& [form, name] : forms) {
    const BerkaFolder files(60);
    files.write(name, transactions_file(form, rows));
    const Loaded loaded(files, {{"length", 16}});
    digests.insert(loaded.task->digest());
    const auto info = loaded.task->info();
    REQUIRE(info.fields.size() == 5);
    CHECK(info.fields[2].vocabulary == 3);
    CHECK(info.fields[3].vocabulary == 6);
    CHECK(info.fields[4].vocabulary == 8);
    CHECK(loaded.task->files().size() == 3);
    REQUIRE(loaded.all.size() == 60 - 8);
    for (const auto& [account, sequence] : loaded.all) {
      INFO(name << ", account " << account);
      CHECK_FALSE(BerkaFolder::is_shared(account));
      CHECK((sequence.woman == 1) == BerkaFolder::is_woman(account));
      CHECK(sequence.source == 1);
      std::size_t i = 0;
      for (const auto& row : rows)
        if (row.account == account) {
          REQUIRE(i < sequence.tokens.size());
          CHECK(sequence.tokens[i].type == static_cast<std::int64_t>(row.type));
          CHECK(sequence.tokens[i].operation == static_cast<std::int64_t>(row.operation));
          CHECK(sequence.tokens[i++].category == static_cast<std::int64_t>(row.category));
        }
      CHECK(sequence.tokens.size() == i);
    }
  }
  CHECK(digests.size() == 1);
}

TEST_CASE("the published archive, and a folder with only the archive, give the same data as its files") {
  const BerkaFolder files(60);
  files.write("trans.asc", transactions_file(kPublished, random_rows(1, 60, 1)));
  const Loaded plain(files);
  std::vector<std::pair<std::string, Bytes>> entries = {{"readme.txt", {'x'}}};
  for (const std::string name : {"client.asc", "disp.asc", "trans.asc"})
    entries.emplace_back(name, read_bytes(files.folder.path() / name));
  const TemporaryFolder packed;
  const auto archive = packed.path() / "data_berka.zip";
  const auto load = [&](const fs::path& data) { return load_task("transactions", {{"data", data.string()}}, packed.path()); };
  write_zip(archive, entries);
  for (const auto& data : {archive, packed.path()}) {
    INFO(data);
    const auto task = load(data);
    CHECK(task->digest() == plain.task->digest());
    CHECK(task->describe(Split::kTest, 0) == plain.task->describe(Split::kTest, 0));
    CHECK(task->files() == std::vector{archive});
  }
  const std::string fault = "1;5;930101;gift;;1.00;1.00;;;\r\n";
  entries.back().second.insert(entries.back().second.end(), fault.begin(), fault.end());
  write_zip(archive, entries);
  const auto lines = std::ranges::count(entries.back().second, std::uint8_t{'\n'});
  check_mentions(message_of([&] { load(archive); }),
                 {archive.string() + "/trans.asc:" + std::to_string(lines) + ": type: found \"gift\""});
  entries.push_back(entries[1]);
  write_zip(archive, entries);
  check_mentions(message_of([&] { load(archive); }), {archive.string(), "holds client.asc twice, expected it once"});
  entries.pop_back();
  entries.erase(entries.begin() + 1, entries.begin() + 3);
  write_zip(archive, entries);
  check_mentions(message_of([&] { load(archive); }),
                 {archive.string() + " lacks client.asc, disp.asc; expected data_berka.zip"});
  fs::resize_file(archive, fs::file_size(archive) / 2);
  check_mentions(message_of([&] { load(packed.path()); }), {archive.string(), "whole zip archive"});
}

TEST_CASE("the last transactions are shown; amounts and days are normalised by the training data") {
  const BerkaFolder files(60);
  const auto rows = random_rows(1, 60, 2);
  files.write("trans.asc", transactions_file(kPublished, rows));
  const std::size_t length = GENERATE(4, 16);
  const Loaded loaded(files, {{"length", length}});
  // log(1 + amount) and log(1 + days since the account's previous transaction), even if the length cuts off that transaction.
  std::map<int, std::vector<std::array<double, 2>>> expected;
  for (int account = 1; account <= 60; ++account) {
    const Row* before = nullptr;
    auto& list = expected[account];
    for (const auto& row : rows) {
      if (row.account != account) continue;
      list.push_back({std::log(1 + row.amount), std::log(1 + (before != nullptr ? days_between(*before, row) : 0.0))});
      before = &row;
    }
    if (list.size() > length) list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(length));
  }
  std::array<double, 2> sum{}, squares{};
  double count = 0;
  for (const auto& [account, sequence] : loaded.splits[0])
    for (const auto& pair : expected[account]) {
      ++count;
      for (std::size_t i = 0; i < 2; ++i) sum[i] += pair[i], squares[i] += pair[i] * pair[i];
    }
  for (const auto& [account, sequence] : loaded.all) {
    REQUIRE(sequence.tokens.size() == expected[account].size());
    for (std::size_t place = 0; place < sequence.tokens.size(); ++place) {
      const std::array<float, 2> found = {sequence.tokens[place].amount, sequence.tokens[place].days};
      for (std::size_t i = 0; i < 2; ++i) {
        const double mean = sum[i] / count, deviation = std::sqrt(squares[i] / count - mean * mean);
        CHECK(static_cast<double>(found[i]) == Approx((expected[account][place][i] - mean) / deviation).margin(1e-5));
      }
    }
  }
}

TEST_CASE("clients are split by seed, balanced by source and gender") {
  BerkaFolder files(200);
  // Account 201 is the second account of client 1.
  auto text = read_bytes(files.folder.path() / "disp.asc");
  files.write("disp.asc", std::string(text.begin(), text.end()) + "9;1;201;\"OWNER\"\r\n");
  auto loans = random_rows(141, 200, 3), dated = random_rows(1, 140, 4);
  for (auto row : random_rows(1, 1, 9)) {
    row.account = 201;
    dated.push_back(row);
  }
  files.write("trans_a.csv", transactions_file(kTranslated, loans));
  files.write("trans_b.csv.gz", transactions_file(kDated, dated));
  std::set<std::string> digests;
  std::set<std::vector<int>> tests;
  for (int seed = 0; seed < 5; ++seed) {
    const Loaded loaded(files, {{"split_seed", seed}});
    digests.insert(loaded.task->digest());
    CHECK(loaded.task->digest() == Loaded(files, {{"split_seed", seed}}).task->digest());
    std::map<std::pair<std::int64_t, std::int64_t>, std::array<int, 3>> strata;
    std::vector<int> in_test;
    std::size_t total = 0;
    for (std::size_t split = 0; split < 3; ++split) {
      total += loaded.splits[split].size();
      for (const auto& [account, sequence] : loaded.splits[split]) {
        CHECK(sequence.source == (account > 140 && account != 201 ? 1 : 2));
        if (account != 201) ++strata[{sequence.source, sequence.woman}][split];
        if (split == 2) in_test.push_back(account);
      }
      CHECK(loaded.splits[split].contains(1) == loaded.splits[split].contains(201));
    }
    CHECK(total == loaded.all.size());  // each account occurs once
    CHECK(loaded.all.size() == 200 - 28 + 1);
    REQUIRE(strata.size() == 4);
    for (const auto& [stratum, counts] : strata) {
      const double all = counts[0] + counts[1] + counts[2];
      CHECK(std::abs(counts[0] - 0.70 * all) <= 1);
      CHECK(std::abs(counts[1] - 0.15 * all) <= 1);
      CHECK(std::abs(counts[2] - 0.15 * all) <= 1);
    }
    tests.insert(in_test);
  }
  CHECK(digests.size() == 5);
  CHECK(tests.size() == 5);
}

TEST_CASE("forbidden content of a file is reported with its line") {
  const BerkaFolder files(30);
  const auto good = transactions_file(kTranslated, random_rows(1, 30, 5));
  const auto with = [&](const std::string& line) {
    files.write("trans_a.csv", good.substr(0, good.find('\n') + 1) + line + "\n" + good.substr(good.find('\n') + 1));
    return refused(files);
  };
  const auto line_2 = files.path() + "/trans_a.csv:2: ";
  check_mentions(with("1;5;930101;gift;;1.00;1.00;;;"), {line_2 + "type: found \"gift\"", "\"PRIJEM\"", "\"withdrawal\""});
  check_mentions(with("1;5;930101;credit;wire;1.00;1.00;;;"), {line_2 + "operation: found \"wire\"", "\"VKLAD\""});
  check_mentions(with("1;5;930101;credit;;1.00;1.00;rent;;"), {line_2 + "k_symbol: found \"rent\"", "\"SIPO\""});
  check_mentions(with("1;5;930231;credit;;1.00;1.00;;;"), {line_2 + "date: found \"930231\"", "YYMMDD"});
  check_mentions(with("1;5;93011;credit;;1.00;1.00;;;"), {line_2 + "date: found \"93011\"", "YYMMDD"});
  check_mentions(with("1;5;930101;credit;;-1.00;1.00;;;"), {line_2 + "amount: found \"-1.00\"", "not negative"});
  check_mentions(with("1;5;930101;credit;;nan;1.00;;;"), {line_2 + "amount: found \"nan\""});
  check_mentions(with("1;B5;930101;credit;;1.00;1.00;;;"), {line_2 + "account_id: found \"B5\"", "A0000002378"});
  check_mentions(with("1;99;930101;credit;;1.00;1.00;;;"), {line_2 + "account_id: found \"99\"", "disp.asc"});
  check_mentions(with("1;5;930101;credit;;1.00"), {line_2 + "found 6 cells, expected 10"});
  files.write("trans_a.csv", good);
  files.write("trans_b.csv", transactions_file(kDated, random_rows(5, 5, 6)));
  check_mentions(refused(files), {"/trans_b.csv:2: account_id: found \"A0000000005\"", "trans_a.csv, too"});
  for (const auto& [date, what] : std::vector<std::pair<const char*, const char*>>{
           {"1993,13,1", "/trans_b.csv:2: month: found \"13\", expected a month of 1 to 12"},
           {"1993,0,1", "/trans_b.csv:2: month: found \"0\", expected a month of 1 to 12"},
           {"1993,2,30", "/trans_b.csv:2: day: found \"30\", expected a day of that month"},
           {"1993,2,0", "/trans_b.csv:2: day: found \"0\", expected a day of that month"}}) {
    files.write("trans_b.csv",
                std::string("account_id,type,operation,amount,k_symbol,year,month,day\nA5,credit,,1.00,,") + date + "\n");
    check_mentions(refused(files), {what});
  }
  files.write("trans_b.csv", "account_id,type,operation,amount,balance\n");
  check_mentions(refused(files), {"/trans_b.csv:1: found the columns account_id, type", "expected k_symbol"});
  fs::remove(files.folder.path() / "trans_b.csv");
  files.write("client.asc", "\"client_id\";\"birth_number\";\"district_id\"\r\n1;\"706313\";18\r\n");
  check_mentions(refused(files), {"/client.asc:2: birth_number: found \"706313\"", "51 to 62"});
  files.write("client.asc", "\"client_id\";\"birth_number\";\"district_id\"\r\n1;\"706213\";18\r\n");
  check_mentions(refused(files), {"/disp.asc:3: client_id: found \"2\"", "client.asc"});
  files.write("disp.asc", "\"disp_id\";\"client_id\";\"account_id\";\"type\"\r\n1;1;1;\"OWNERX\"\r\n");
  check_mentions(refused(files), {"/disp.asc:2: type: found \"OWNERX\", expected one of \"OWNER\", \"DISPONENT\""});
}

TEST_CASE("missing transactions: the error names the searched files and the remedy") {
  const BerkaFolder files(30);
  check_mentions(refused(files), {files.path() + " lacks trans.asc or trans_*.csv"});
  files.write("trans.asc", transactions_file(kPublished, random_rows(1, 3, 7)));
  check_mentions(refused(files), {"3 accounts with one owner", "too few"});
  check_mentions(message_of([&] {
                   make_task("transactions", {{"data", files.path() + "/no"}}, files.path())->info();
                 }),
                 {"was not found", "berka", "https://sorry.vse.cz/"});
  Bytes damaged = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff};
  std::ofstream(files.folder.path() / "trans.asc", std::ios::binary)
      .write(reinterpret_cast<const char*>(damaged.data()), static_cast<std::streamsize>(damaged.size()));
  check_mentions(refused(files), {"trans.asc", "damaged"});
}
