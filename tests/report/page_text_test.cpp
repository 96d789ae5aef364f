// The text of a report's page: the embedded parts, the policy and the data.
#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "tests/db/commands.h"
#include "tests/support/skip.h"
#include "tools/ablate/report/report.h"

using namespace ablate;
using ablate::db::has;

namespace {

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto from = text.find(before) + before.size();
  return text.substr(from, text.find(after, from) - from);
}

/// Decodes base64 and decompresses the result (zlib, RFC 1950).
/// @param size largest size of the content
std::string unpacked(const std::string& text, std::size_t size) {
  std::vector<unsigned char> bytes(text.size());
  const auto* in = reinterpret_cast<const unsigned char*>(text.data());
  const int decoded = EVP_DecodeBlock(bytes.data(), in, static_cast<int>(text.size()));
  REQUIRE(decoded > 0);
  std::string all(size + 1, '\0');
  uLongf length = all.size();
  const auto padding = static_cast<uLong>(std::count(text.end() - 2, text.end(), '='));
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(all.data()), &length, bytes.data(), static_cast<uLong>(decoded) - padding) ==
          Z_OK);
  all.resize(length);
  return all;
}

const PageTexts kTexts{"<@POLICY@|@TITLE@|@STYLE@|@LICENCE@|@DATA@|@D3@|@SCRIPT@> a@b", "", "own();\n", "d3();",
                       "(c) <author>"};

}  // namespace

TEST_CASE("a page has each part in its place, and escapes the text of a history") {
  const auto page = make_page(kTexts, "@DATA@ </title><b a=\"1\">&", "{}");
  CHECK(has(page, "|@DATA@ &lt;/title&gt;&lt;b a=&quot;1&quot;&gt;&amp;|"));
  CHECK(has(page, "|(c) &lt;author&gt;|"));
  CHECK(has(page, "|d3();|(() => {\n\"use strict\";\nown();\n})();> a@b"));
}

TEST_CASE("a page's policy allows its own scripts and style by their hashes, and nothing else") {
  const auto page = make_page(kTexts, "title", "{}");
  const auto policy = between(page, "<", "|");
  // Hashes of "d3();", of the script in the case above, and of "", by `printf ... | openssl dgst -sha256 -binary | base64`.
  CHECK(policy ==
        "default-src 'none'; script-src 'sha256-YFJT5b2RlnvzYiQZGaRypTOGTAdWSlnqvqIv+VPohTo=' "
        "'sha256-EwIKiwpIZ5ryZfbUSrbsQnrCpgG3jRhnstv0B1QP+xM='; style-src "
        "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; base-uri 'none'; form-action 'none'");
}

TEST_CASE("decoding gives back a page's data") {
  std::string data;
  for (int i = 0; i < 10000; ++i) data += "{\"</script>\": [" + std::to_string(i * i) + "]}";
  const auto text = between(make_page({"[@DATA@]", "", "", "d3", ""}, "", data), "[", "]");
  CHECK(text.size() < data.size() / 2);
  CHECK_FALSE(has(text, "<"));
  CHECK(unpacked(text, data.size()) == data);
}

TEST_CASE("without D3 a report is refused, and the error names the package") {
  auto texts = kTexts;
  CHECK_NOTHROW(expect_d3(texts));
  texts.d3 = "";
  try {
    expect_d3(texts);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(has(error.what(), "node-d3"));
    CHECK(error.code() == ExitCode::kUsage);
  }
}

TEST_CASE("if a command names several experiments, the report begins with a table of all; otherwise each has its own table") {
  if (page_texts().d3.empty()) return skip_without_package("node-d3");
  db::Commands run;
  run.add = add_report;
  const std::string study = "[table.own]\nrows = [\"attention\"]\n";
  {
    db::Store store(run.file());
    const auto id = store.put_experiment({"second", "", "second.toml", study, {}});
    const auto one = db::trial("linear", {}, 1);
    store.put_trials(id, {{db::key_of(one), one}});
    store.put_attempt(db::done(one, 70));
  }
  const auto tables = [&](const std::string& names) {
    const auto file = run.file().parent_path() / "r.html";
    run("report " + names + "--force --out " + file.string());
    REQUIRE(run.exit_code == 0);
    const auto text = between(db::content(file), "id=\"data\">", "<");
    const auto data = nlohmann::json::parse(unpacked(text, 1 << 20));
    std::vector<std::string> found;
    for (const auto& table : data["tables"])
      found.push_back(table["experiments"].dump() + table["name"].get<std::string>() + " " +
                      std::to_string(table["blocks"][0]["rows"].size()));
    return found;
  };
  CHECK(tables("quickstart second ") == std::vector<std::string>{"[0,1] 3", "[1]own 1"});
  CHECK(tables("") == std::vector<std::string>{"[0] 2", "[1]own 1"});
  CHECK(tables("second ") == std::vector<std::string>{"[0]own 1"});
}

TEST_CASE("embedded text is complete, and cannot close its element") {
  const auto texts = page_texts();
  CHECK(texts.html.starts_with("<!DOCTYPE html>"));
  for (const auto* name : {"POLICY", "TITLE", "STYLE", "LICENCE", "DATA", "D3", "SCRIPT"})
    CHECK(texts.html.find("@" + std::string(name) + "@") != std::string_view::npos);
  for (const auto text : {texts.script, texts.d3, texts.style}) {
    CHECK(text.find("</s") == std::string_view::npos);
    CHECK(text.find("<!--") == std::string_view::npos);
  }
  CHECK(texts.script.find("innerHTML") == std::string_view::npos);
  CHECK(texts.script.find(".html(") == std::string_view::npos);
  if (texts.d3.empty()) return skip_without_package("node-d3");
  CHECK(texts.d3.find("v5.16") < 100);
  CHECK(texts.licence.find("BSD-3-Clause") != std::string_view::npos);
}
