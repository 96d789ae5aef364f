#include "db/report/render_table.h"

#include "db/report/table_csv.h"
#include "db/report/table_json.h"
#include "db/report/table_text.h"

namespace ablate::db {

std::string to_text(const Table& table, Format format) {
  switch (format) {
    case Format::kCsv:
      return table_csv(table);
    case Format::kJson:
      return table_json(table);
    case Format::kText:
    case Format::kMarkdown:
      return table_text(table, format);
  }
  refuse_format(format);
}

}  // namespace ablate::db
