#include "db/questions/tuning_remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/report/format.h"

namespace ablate::db {

std::vector<std::string> TuningRemarks::notes(const std::vector<std::string>& paths) const {
  std::vector<std::string> all;
  if (!metrics_.empty())
    all.push_back(fmt::format(
        "{}: of the values tried the best by {} (mean over {}seeds, the first of equals); the others' test "
        "results are not looked at. Named in --rows or --cols, all are shown{}",
        fmt::join(paths, ", "), fmt::join(metrics_, ", "), apart_ ? "other " : "", apart_ ? ", on those other seeds" : ""));
  if (edges_ > 0)
    all.push_back(
        fmt::format("^ the largest or the smallest of the values tried ({} of {} choices): a better one may lie "
                    "beyond",
                    edges_, choices_));
  if (!left_out_.empty())
    all.push_back(fmt::format("without part in the choice, as not all of their trials are done: {}", some_of(left_out_)));
  if (waiting_ > 0)
    all.push_back(
        fmt::format("{} choice{} not reported: none of {} trials on the reported seeds is here, and no result is shown",
                    waiting_, waiting_ == 1 ? " is" : "s are", waiting_ == 1 ? "its" : "their"));
  if (undecided_ > 0)
    all.push_back(fmt::format("{} choice{} open: no value has all of its trials done, and no result is shown", undecided_,
                              undecided_ == 1 ? " is" : "s are"));
  if (unchosen_ > 0)
    all.push_back(fmt::format("without part in a choice, and shown as {}: {} trial{} that came without the study's grid",
                              unchosen_ == 1 ? "it is" : "they are", unchosen_, unchosen_ == 1 ? "" : "s"));
  return all;
}

}  // namespace ablate::db
