#include "tools/ablate/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <map>
#include <memory>
#include <vector>

#include "core/host/study/named_tables.h"
#include "core/util/error.h"
#include "core/util/markup.h"
#include "core/util/plain_json.h"
#include "db/questions/tables/report_data.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/report/texts.h"

namespace ablate {
namespace {

/// Returns the tables that each experiment's study names. If `together`, a common default table comes first. Otherwise, an
/// experiment whose study names no table gets its default table.
std::vector<db::ReportTable> tables_of(const db::Reader& reader, const std::vector<std::string>& experiments, bool together,
                                       const db::TableRequest& usual) {
  std::vector<db::ReportTable> tables;
  if (together) {
    tables.push_back({"", usual});
    tables.front().request.experiments = experiments;
  }
  for (const auto& experiment : experiments) {
    auto request = usual;
    request.experiments = {experiment};
    const auto named = named_tables(reader.study_text(experiment), reader.study_file(experiment));
    if (named.empty() && !together) tables.push_back({"", request});
    for (const auto& table : named) {
      auto own = request;
      ask_as_named(reader, table.name, {}, own);
      tables.push_back({table.name, std::move(own)});
    }
  }
  return tables;
}

std::string base64(const unsigned char* bytes, std::size_t size) {
  std::string text(4 * ((size + 2) / 3) + 1, '\0');  // OpenSSL ends it with a zero
  const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
  text.resize(static_cast<std::size_t>(written));
  return text;
}

/// Returns the data for DecompressionStream("deflate"): RFC 1950, in base64.
std::string packed(const std::string& data) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // base64() above counts bytes in an int
  if (data.size() > kMost)
    throw Error(
        fmt::format("report: its data are {} MB, expected at most {}: name fewer experiments", data.size() >> 20, kMost >> 20));
  auto size = compressBound(data.size());
  std::vector<unsigned char> bytes(size);
  if (compress2(bytes.data(), &size, reinterpret_cast<const unsigned char*>(data.data()), data.size(), 6) != Z_OK)
    throw Error("report: its data cannot be deflated: memory is short");
  return base64(bytes.data(), size);
}

/// Returns the hash by which a content policy allows a script or a style.
std::string hash_source(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr) != 1)
    throw Error("report: OpenSSL has no SHA-256, which the page's content policy is made of");
  return fmt::format("'sha256-{}'", base64(digest, size));
}

/// Replaces each @NAME@ in the text by the part of that name. Parts themselves are not searched.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& parts) {
  std::string all;
  for (;;) {
    const auto from = text.find('@');
    const auto to = from == std::string_view::npos ? from : text.find('@', from + 1);
    if (to == std::string_view::npos) return all.append(text);
    const auto part = parts.find(text.substr(from + 1, to - from - 1));
    if (part == parts.end()) {
      all.append(text.substr(0, to));  // the second '@' may begin a name
      text.remove_prefix(to);
      continue;
    }
    all.append(text.substr(0, from)).append(part->second);
    text.remove_prefix(to + 1);
  }
}

}  // namespace

void add_report(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::vector<std::string> experiments;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("report", "One HTML page of tables, figures and trials, which needs no network");
  command->group(kQuestions);
  command
      ->add_option("EXPERIMENT", arguments->experiments,
                   "its latest grid; several experiments also get one common table; default: all experiments")
      ->type_name("")
      ->check(not_empty());
  add_out(command, arguments->out);
  command->get_option("--out")->required();
  command->footer(
      "The page has the tables that the study names ([table.NAME]), else the one of `ablate table`, curves, a metric against "
      "its cost, parallel coordinates, all trials, failures by reason, environments. Each number leads to its trials.\n"
      "Example:\n  ablate report quickstart --out report.html");
  command->callback([command, arguments, database, &exit_code] {
    const auto texts = page_texts();
    expect_d3(texts);  // before the history is read
    const db::Reader reader(database());
    const auto experiments = arguments->experiments.empty() ? reader.experiments() : arguments->experiments;
    for (std::size_t i = 0; i < experiments.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (experiments[i] == experiments[j])
          throw Error(fmt::format("report: {} is named twice, expected each experiment once", experiments[i]));
    for (const auto& name : experiments) static_cast<void>(reader.experiment(name));  // throws if it does not exist
    const bool together = arguments->experiments.size() > 1;
    const auto tables = tables_of(reader, experiments, together, usual_request(command, reader, database()));
    const auto data = db::report_data(reader, {experiments, tables});
    const auto title = fmt::format("ablate report: {}", db::some_of(experiments));
    arguments->out.put(make_page(texts, db::one_row(title), plain_json(data)));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

PageTexts page_texts() { return {kPageHtml, kPageStyle, kPageScript, kD3, kD3Licence}; }

void expect_d3(const PageTexts& texts) {
  if (texts.d3.empty())
    throw Error(
        "report: this ablate was built without D3, which draws a report's figures: install Debian's package node-d3 and build "
        "again (tools/setup does both)");
}

std::string make_page(const PageTexts& texts, const std::string& title, const std::string& data) {
  const auto script = fmt::format("(() => {{\n\"use strict\";\n{}}})();", texts.script);
  const auto policy = fmt::format("default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
                                  hash_source(texts.d3), hash_source(script), hash_source(texts.style));
  return filled(texts.html, {{"POLICY", policy},
                             {"TITLE", markup_escaped(title, "\"")},
                             {"STYLE", std::string(texts.style)},
                             {"LICENCE", markup_escaped(texts.licence, "\"")},
                             {"DATA", packed(data)},
                             {"D3", std::string(texts.d3)},
                             {"SCRIPT", script}});
}

}  // namespace ablate
