// A stream's places, read across the rows of its grid.
#pragma once

#include "core/trial/conformance/task_subject.h"

namespace ablate {

/// Places that follow each other, read in rows of the stream's length from `begin` on; fewer where the split ends.
Example stretch(const TaskSubject& subject, Split split, std::int64_t begin, std::int64_t count);

/// Where stretches begin that lie all over a split: all of it where it has no more than `most` places. @param each places of
/// one
std::vector<std::int64_t> stretches(std::int64_t size, std::int64_t most, std::int64_t each);

/// What stands at a stretch's places, a symbol each.
std::vector<std::uint64_t> symbols_of(const TaskSubject& subject, const Example& text);

}  // namespace ablate
