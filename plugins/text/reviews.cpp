#include "reviews.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>
#include <tuple>

#include "ablate/input_file.h"
#include "source.h"

namespace ablate::imdb {
namespace {

namespace fs = std::filesystem;

using Lists = std::map<std::string, std::vector<std::string>>;  ///< lines of urls_{pos,neg}.txt, by path

struct Name {
  std::int64_t id;
  int rating;
};

/// Parses ID_RATING.txt, without leading zeros. Ratings 1 to 4 are negative, 7 to 10 positive; the others are not published.
Name parse(const fs::path& source, const std::string& path, bool positive) {
  const auto file = fs::path(path).filename().string();
  Name name{};
  const char *at = file.data(), *const end = at + file.size();
  const auto id = std::from_chars(at, end, name.id);
  const bool has_id = id.ec == std::errc() && id.ptr != end && *id.ptr == '_';
  const auto rating = has_id ? std::from_chars(id.ptr + 1, end, name.rating) : id;
  if (!has_id || rating.ec != std::errc() || std::to_string(name.id) + "_" + std::to_string(name.rating) + ".txt" != file)
    throw FileError(source, path + ": found this name, expected ID_RATING.txt, as 0_9.txt");
  if (positive ? name.rating < 7 || name.rating > 10 : name.rating < 1 || name.rating > 4)
    throw FileError(source, path + ": found the rating " + std::to_string(name.rating) + ", expected " +
                                (positive ? "7 to 10 among positive" : "1 to 4 among negative") + " reviews");
  return name;
}

std::string count_of(std::size_t reviews) { return std::to_string(reviews) + (reviews == 1 ? " review" : " reviews"); }

/// The reviews of one split and label.
struct Part {
  std::string folder, list;      ///< train/pos, train/urls_pos.txt
  std::vector<Review*> reviews;  ///< sorted by id
};

/// Checks that the ids are 0, 1, 2, ... without gaps or duplicates.
void check_ids(const fs::path& source, const Part& part) {
  if (part.reviews.empty()) throw FileError(source, "found no review in " + part.folder + ", expected files ID_RATING.txt");
  for (std::size_t i = 0; i < part.reviews.size(); ++i)
    if (const auto id = part.reviews[i]->id, expected = static_cast<std::int64_t>(i); id != expected)
      throw FileError(source, part.folder + ": found " + count_of(part.reviews.size()) + ", " +
                                  (id < expected ? "two with the id " : "but none with the id ") +
                                  std::to_string(std::min(id, expected)) +
                                  "; expected each id from 0 on once: unpack the archive again");
}

/// Checks that no review is missing at the end, which ids cannot show. The list of films has a line for each review. Without a
/// list, the part must be as long as the longest part, because all published parts have the same length.
void check_ends(const fs::path& source, const std::vector<Part>& parts, const Lists& lists) {
  const auto longest = std::ranges::max_element(parts, {}, [](const Part& part) { return part.reviews.size(); });
  for (const auto& part : parts) {
    const auto list = lists.find(part.list);
    const bool has_list = list != lists.end();
    const auto expected = has_list ? list->second.size() : longest->reviews.size();
    if (part.reviews.size() != expected)
      throw FileError(source, part.folder + ": found " + count_of(part.reviews.size()) + ", expected " +
                                  std::to_string(expected) + ", as " +
                                  (has_list ? part.list + " has lines" : "there are in " + longest->folder) +
                                  ": unpack the archive again");
  }
}

bool is_page(const std::string& line) {
  constexpr std::string_view kTitle = "/title/tt";
  const auto title = line.find(kTitle);
  return line.starts_with("http") && title != std::string::npos && title + kTitle.size() < line.size() &&
         std::isdigit(static_cast<unsigned char>(line[title + kTitle.size()])) != 0;
}

/// Requires check_ends() before.
void set_films(const fs::path& source, const Part& part, const Lists& lists) {
  const auto found = lists.find(part.list);
  if (found == lists.end())
    throw FileError(source, "lacks " + part.list + ", expected a line for each review: its film's page");
  for (std::size_t i = 0; i < part.reviews.size(); ++i) {
    const auto& line = found->second[i];
    if (!is_page(line))
      throw FileError(source, part.list + ":" + std::to_string(i + 1) + ": found \"" + line +
                                  "\", expected the page of a film, as http://www.imdb.com/title/tt0064354/usercomments");
    part.reviews[i]->film = line;
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

Halves read_reviews(const fs::path& source, std::size_t length, bool films) {
  Halves halves;
  Lists lists;
  for_each_file(source, [&](const std::string& path, const ReadBytes& read) {
    const auto folder = fs::path(path).parent_path().generic_string();
    if (folder == "train" || folder == "test") {
      lists[path] = lines_of(read(SIZE_MAX));
      return;
    }
    const bool positive = folder.ends_with("pos");
    const auto name = parse(source, path, positive);
    Review review{name.id, positive, read(length)};
    if (review.text.empty()) throw FileError(source, path + ": is empty, expected a review");
    halves[folder.starts_with("train") ? 0 : 1].push_back(std::move(review));
  });
  std::vector<Part> parts;
  for (std::size_t half = 0; half < halves.size(); ++half) {
    const std::string split = half == 0 ? "train" : "test";
    std::ranges::sort(halves[half], {}, [](const Review& review) { return std::tie(review.id, review.positive); });
    for (const std::string label : {"neg", "pos"}) {
      parts.push_back({split + "/" + label, split + "/urls_" + label + ".txt", {}});
      auto& part = parts.back();
      for (auto& review : halves[half])
        if (review.positive == (label == "pos")) part.reviews.push_back(&review);
      check_ids(source, part);
    }
  }
  check_ends(source, parts, lists);
  for (const auto& part : parts)
    if (films && part.folder.starts_with("train")) set_films(source, part, lists);
  return halves;
}

}  // namespace ablate::imdb
