// Film reviews with their labels (Maas et al. 2011): {train,test}/{pos,neg}/ID_RATING.txt. Line ID (from 0) of
// urls_{pos,neg}.txt is the page of the film of review ID.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::imdb {

struct Review {
  std::int64_t id;  ///< from 0, separately for each split and label
  bool positive;
  std::string text;       ///< bytes
  std::string film = {};  ///< page of the film
};

/// Train and test, sorted by id, each id's negative review before its positive review. So every prefix is nearly balanced.
using Halves = std::array<std::vector<Review>, 2>;

/// @param source from find_source
/// @param length limits each text to its first bytes
/// @param films true to read Review::film
/// Throws FileError with the file, the found and the expected text for a name other than ID_RATING.txt, a rating that
/// contradicts the folder, an empty review, ids that are not 0, 1, 2, ..., a list of films without a line for each review, or,
/// without a list, fewer reviews in a folder than in another. With films, also for a missing list or a line that is no film's
/// page.
Halves read_reviews(const std::filesystem::path& source, std::size_t length, bool films);

}  // namespace ablate::imdb
