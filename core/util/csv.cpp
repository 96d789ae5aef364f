#include "core/util/csv.h"

#include <algorithm>

#include "core/util/error.h"
#include "core/util/plain_text.h"

namespace ablate {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<CsvRecord> records() {
    std::vector<CsvRecord> all;
    while (at_ < text_.size()) {
      if (ends_line(text_[at_])) {
        take_line_end();
        continue;
      }
      all.push_back(record());
      check(all.back(), all.front());
    }
    return all;
  }

 private:
  static bool ends_line(char c) { return c == '\n' || c == '\r'; }

  [[noreturn]] void refuse(std::size_t line, const std::string& why) const {
    throw Error(name_ + ":" + std::to_string(line) + ": " + why);
  }

  void take_line_end() {
    if (text_.substr(at_, 2) == "\r\n") ++at_;
    ++at_, ++line_;
  }

  CsvRecord record() {
    CsvRecord record{line_, {}};
    while (true) {
      record.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted_field() : plain_field());
      if (const auto bytes = record.fields.back().size(); bytes > kMostCsvFieldBytes)
        refuse(record.line,
               "found a field of " + std::to_string(bytes) + " bytes, expected at most " + std::to_string(kMostCsvFieldBytes));
      if (record.fields.size() > kMostCsvFields)
        refuse(record.line, "found more than " + std::to_string(kMostCsvFields) + " fields, expected at most " +
                                std::to_string(kMostCsvFields));
      if (at_ == text_.size()) return record;
      if (ends_line(text_[at_])) {
        take_line_end();
        return record;
      }
      ++at_;  // a comma
    }
  }

  std::string plain_field() {
    const auto end = std::min(text_.find_first_of(",\"\r\n", at_), text_.size());
    if (end < text_.size() && text_[end] == '"')
      refuse(line_, "found a double quote inside a field, expected the whole field in quotes and each quote in it doubled");
    std::string field(text_.substr(at_, end - at_));
    at_ = end;
    return field;
  }

  std::string quoted_field() {
    const auto begin = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_, 2) != "\r\n")) ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (text_.substr(at_, 2) == "\"\"") {
        field += text_[at_++];
      } else {
        ++at_;
        if (at_ < text_.size() && text_[at_] != ',' && !ends_line(text_[at_]))
          refuse(line_,
                 "found text behind a closing quote, expected a comma or the end of the line; double the quotes in a field");
        return field;
      }
    }
    refuse(begin, "found a field whose quote is never closed, expected a closing quote");
  }

  void check(const CsvRecord& record, const CsvRecord& header) const {
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      // Line ends are allowed in a field, so they are replaced before the check.
      auto row = record.fields[i];
      std::replace_if(
          row.begin(), row.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
      if (const auto why = line_refusal(row); !why.empty())
        refuse(record.line, "field " + std::to_string(i + 1) + " " + why + "; expected text in UTF-8");
    }
    if (&record == &header && record.fields.size() == 1)
      for (const char* other : {";", "\t"})
        if (record.fields[0].find(other) != std::string::npos)
          refuse(record.line,
                 std::string("found ") + (*other == ';' ? "semicolons" : "tabs") + ", expected commas between the fields");
    if (record.fields.size() != header.fields.size())
      refuse(record.line, "found " + std::to_string(record.fields.size()) + " fields, expected " +
                              std::to_string(header.fields.size()) + " as in the header");
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace

std::vector<CsvRecord> read_csv(std::string_view text, const std::string& name) {
  for (const auto* mark : {"\xFF\xFE", "\xFE\xFF"})
    if (text.starts_with(mark)) throw Error(name + ": found UTF-16, expected UTF-8: save it as \"CSV UTF-8\"");
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return CsvReader(text, name).records();
}

}  // namespace ablate
