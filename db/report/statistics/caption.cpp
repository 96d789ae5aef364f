#include "db/report/statistics.h"

namespace ablate::db {
namespace {

std::string refuse_caption(const std::string& text) { return text.empty() ? "found nothing, expected a text" : ""; }

void set_caption(const std::vector<std::string>& values, Table& table) { table.caption = values.back(); }

}  // namespace

const Statistic statistics::caption{
    "caption",  "TEXT",
    false,      "the table's caption; in LaTeX and Typst the table then floats, in place of a bare tabular",
    "",         refuse_caption,
    set_caption};

}  // namespace ablate::db
