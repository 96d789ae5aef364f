#include "db/report/label_order.h"

#include <algorithm>
#include <limits>

#include "core/util/rate_text.h"

namespace ablate::db {

LabelKey label_key(const std::string& label, std::optional<double> number) {
  LabelKey all;  // text sorts behind all numbers
  if (number) return all.emplace_back(*number, ""), all;
  for (std::size_t from = 0; from <= label.size();) {
    const auto to = std::min(label.find(',', from), label.size());
    const auto part = label.substr(from, to - from);
    const auto rate = parse_rate(part);
    all.emplace_back(rate ? rate->value() : std::numeric_limits<double>::infinity(), rate ? "" : part);
    from = to + 1;
  }
  return all;
}

}  // namespace ablate::db
