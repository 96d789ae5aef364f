// Film reviews with their labels (Maas et al. 2011): {train,test}/{pos,neg}/ID_RATING.txt, and in urls_{pos,neg}.txt the page
// of the film that review ID is of, on line ID (from 0).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::imdb {

struct Review {
  std::int64_t id;  ///< from 0, of each split and label for itself
  bool positive;
  std::string text;       ///< bytes
  std::string film = {};  ///< its page
};

/// Train and test, each by id, and of one id the positive review last: so any first part has about as many of both.
using Halves = std::array<std::vector<Review>, 2>;

/// @param source find_source's  @param length of each text the first so many bytes  @param films whether Review::film is read
/// Throws FileError naming the file, what was found and what was expected: a name that is not ID_RATING.txt, a rating that
/// contradicts the folder, an empty review, ids that are not 0, 1, 2, ..., a list of films that has not a line for each review,
/// or, where there is none, fewer reviews than another part has; with films, no list of them, or a line that is no film's page.
Halves read_reviews(const std::filesystem::path& source, std::size_t length, bool films);

}  // namespace ablate::imdb
