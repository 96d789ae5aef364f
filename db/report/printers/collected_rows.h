// Rows that are written at the end, because their columns are aligned. Internal to the printers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "db/report/format.h"
#include "db/report/layout.h"
#include "db/report/printers.h"

namespace ablate::db {

using Rows = std::vector<std::vector<std::string>>;  ///< the first is the header

/// Escapes a text for a format.
using Escape = std::string (*)(std::string_view text);
inline std::string as_it_is(std::string_view text) { return std::string(text); }

/// Memory limit for collected rows: more than anyone reads in columns.
inline constexpr std::size_t kMostCollected = std::size_t{64} << 20;  // bytes

/// put() throws Error if the rows need more than kMostCollected.
class CollectedRows : public RowPrinter {
 public:
  CollectedRows(std::string (*render)(const Rows& rows), const Write& write, Escape escape = as_it_is)
      : render_(render), write_(write), escape_(escape) {}

  void begin(const std::vector<std::string>& names) override {
    rows_.assign(1, {});
    for (const auto& name : names) rows_.front().push_back(escape_(name));
  }
  void put(const std::vector<nlohmann::json>& fields) override {
    auto& row = rows_.emplace_back();
    for (const auto& field : fields) bytes_ += sizeof(std::string) + row.emplace_back(escape_(text_of(field))).size();
    bytes_ += sizeof(Rows::value_type);
    if (bytes_ > kMostCollected)
      throw Error(fmt::format(
          "the answer has more than {} rows, found {} MiB of them, expected at most {} MiB in aligned columns; end the SELECT "
          "with LIMIT, or use --format csv or json, which write each row at once",
          rows_.size() - 2, bytes_ >> 20, kMostCollected >> 20));
  }
  void end() override { write_(render_(rows_)); }
  bool for_people() const override { return true; }

 private:
  static std::string text_of(const nlohmann::json& field) {
    if (field.is_number_float()) return fmt::format("{:.10g}", field.get<double>());  // 56.67, not 56.669999999999995
    return plain_field(field);
  }

  std::string (*render_)(const Rows& rows);
  const Write& write_;
  Escape escape_;
  Rows rows_;
  std::size_t bytes_ = 0;
};

/// Text after the caption in a format that has bold and underlined text.
inline constexpr const char* kEmphasised =
    "; bold: the best, significantly better than the second; underlined: the second, significantly better than the third";

/// Texts that a format for people puts around a table's rows.
struct Surroundings {
  const char* best;  ///< legend after the caption; "" if the format does not mark the best
  const char* note;  ///< prefix of each note
  Escape escape = as_it_is;
};

/// Returns a block's header and rows.
inline Rows plain_rows(const Block& block, const Emphasis& emphasis, Escape escape) {
  Rows rows(1);
  for (const auto& field : block.header) rows[0].push_back(escape(field.text));
  for (const auto& row : block.rows) {
    rows.emplace_back();
    for (auto field : row) {
      if (field.role != FieldRole::kNumber) field.text = escape(field.text);
      field.failures = escape(field.failures);
      rows.back().push_back(plain(field, emphasis));
    }
  }
  return rows;
}

/// Block whose rows name their trials.
struct MarkedRows {
  std::string columns;  ///< alignment of each column
  Rows rows;
  std::vector<std::string> trials;  ///< row_trials of each row; empty if the table has no request
};

/// @param field_text writes a field in the format
/// @param number, text alignments of columns of numbers, and of other columns
inline MarkedRows marked_rows(const Table& table, const Block& block, Escape escape, std::string (*field_text)(const Field&),
                              const char* number, const char* text) {
  MarkedRows all{.rows = Rows(1)};
  const bool carries = !table.request.empty();
  if (carries) all.trials.emplace_back(kColumnsMark);
  for (const auto& field : block.header) {
    all.columns += field.role == FieldRole::kNumber ? number : text;
    all.rows[0].push_back(escape(field.text));
  }
  for (const auto& row : block.rows) {
    std::transform(row.begin(), row.end(), std::back_inserter(all.rows.emplace_back()), field_text);
    if (carries) all.trials.push_back(row_trials(table, row));
  }
  return all;
}

/// Renders a table for people: caption, blocks and notes.
inline std::string readable_table(const Table& table, std::string (*render)(const Rows& rows), const Emphasis& emphasis,
                                  const Surroundings& around) {
  const auto layout = lay_out(table);
  auto text = around.escape(one_row(layout.caption)) + (layout.any_best ? around.best : "") + "\n";
  for (const auto& block : layout.blocks) {
    if (!block.title.empty()) text += "\n" + around.escape(one_row(block.title)) + "\n";
    text += "\n" + render(plain_rows(block, emphasis, around.escape));
  }
  if (!layout.notes.empty()) text += "\n";
  for (const auto& note : layout.notes) text += around.note + one_row(note) + "\n";
  return text;
}

}  // namespace ablate::db
