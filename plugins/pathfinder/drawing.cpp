#include "drawing.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "ablate/random.h"

namespace ablate::pathfinder {
namespace {

constexpr std::int64_t kTurn = 32;   ///< greatest change of direction between successive paddles: an eighth of a turn
constexpr int kTries = 10;           ///< per paddle
constexpr int kTriesAtBegin = 2;     ///< for a contour's first paddle; few, because a bad position fails in any direction
constexpr int kTriesToBegin = 30;    ///< per short contour
constexpr int kMostSetbacks = 20;    ///< for the long contours together
constexpr int kMostEndings = 10;     ///< alternative second halves of the long contours
constexpr std::size_t kSetback = 4;  ///< paddles removed when the next one does not fit

class Pen {
 public:
  Pen(const Form& form, std::mt19937_64& random) : form_(form), random_(random) {}

  /// Returns nullopt if the try failed.
  std::optional<Drawing> draw(bool connected) {
    const auto half = form_.side / 2, direction = drawn(kDirections);
    const Point middle{half / 2 + drawn(half), half / 2 + drawn(half)};
    // Both long contours are drawn alike. Otherwise the positions of the circles would reveal something about the label.
    begin(moved(middle, form_.apart / 2, direction));
    begin(moved(middle, form_.apart / 2, direction + kDirections / 2));
    auto circles = grow_long() ? place_circles(connected) : std::nullopt;
    for (int i = 0; i < kMostEndings && !circles; ++i) {
      for (auto& row : rows_) row.steps.resize(std::min(row.steps.size(), static_cast<std::size_t>(form_.contour) / 2));
      tips_.resize(rows_.size());
      if (grow_long()) circles = place_circles(connected);
    }
    if (!circles) return std::nullopt;
    for (int i = 0; i < form_.distractors; ++i) add_distractor();
    Drawing drawing{{}, *circles};
    for (std::size_t row = 0; row < rows_.size(); ++row)
      for (const auto& step : rows_[row].steps) drawing.paddles.push_back({step.line, static_cast<int>(row)});
    return drawing;
  }

 private:
  struct Step {
    Piece line;
    std::int64_t direction;
  };
  /// A contour under construction.
  struct Row {
    Point at;  ///< the contour's first end
    std::vector<Step> steps = {};
  };

  std::int64_t drawn(std::int64_t end) { return static_cast<std::int64_t>(below(static_cast<std::uint64_t>(end), random_)); }

  void begin(Point at) { rows_.push_back({at}), tips_.push_back(at); }

  /// Extends the shorter contour first, so that both are obstructed equally often.
  bool grow_long() {
    const auto full = static_cast<std::size_t>(form_.contour);
    for (int setbacks = 0; setbacks < kMostSetbacks;) {
      auto& row = rows_[rows_[1].steps.size() < rows_[0].steps.size() ? 1 : 0];
      if (row.steps.size() == full) return true;
      if (extend(row, row.steps.size() + 1 == full)) {
        if (row.steps.size() == full) tips_.push_back(row.steps.back().line.to);
      } else {
        ++setbacks;
        row.steps.resize(row.steps.size() - std::min(row.steps.size(), kSetback));
      }
    }
    return false;
  }

  /// @param is_last true if a circle may be placed at the end
  bool extend(Row& row, bool is_last = false) {
    const int tries = row.steps.empty() ? kTriesAtBegin : kTries;
    for (int i = 0; i < tries; ++i) {
      Step step{{row.at, {}}, drawn(kDirections)};
      if (!row.steps.empty()) {
        const auto& before = row.steps.back();
        const auto turn = drawn(2 * kTurn + 1) - kTurn;
        step.direction = before.direction + turn;
        step.line.from = moved(before.line.to, form_.gap, before.direction + turn / 2);
      }
      step.line.to = moved(step.line.from, form_.paddle, step.direction);
      if (!fits(step.line, row) || (is_last && !has_room(step.line.to))) continue;
      row.steps.push_back(step);
      return true;
    }
    return false;
  }

  bool fits(const Piece& line, const Row& own) const {
    const auto border = form_.radius + kPixel / 2;
    for (const auto point : {line.from, line.to})
      if (std::min(point.x, point.y) < border || std::max(point.x, point.y) > form_.side - border) return false;
    for (const auto tip : tips_)
      if (is_near(tip, line, room()) && !(own.steps.empty() && tip == own.at)) return false;
    // Quick test: pieces whose middles are `reach` apart are not near. Values are doubled: two ends add up to twice the middle.
    const auto reach = 2 * (form_.clear + form_.paddle) + kPixel / 8, middle_x = line.from.x + line.to.x,
               middle_y = line.from.y + line.to.y;
    for (const auto& row : rows_)
      for (const auto& step : row.steps) {
        if (&row == &own && &step == &own.steps.back()) continue;  // the piece before is only a gap away
        const auto& [from, to] = step.line;
        if (std::abs(from.x + to.x - middle_x) < reach && std::abs(from.y + to.y - middle_y) < reach &&
            is_near(line, step.line, form_.clear))
          return false;
      }
    return true;
  }

  /// True if a circle at `tip` would touch only its own contour's end, and no other circle.
  bool has_room(Point tip) const {
    for (const auto other : tips_)
      if (is_near(tip, other, 2 * form_.radius + kPixel)) return false;
    for (const auto& row : rows_)
      for (const auto& step : row.steps)
        if (is_near(tip, step.line, room())) return false;
    return true;
  }
  std::int64_t room() const { return form_.radius + form_.thickness / 2 + kPixel / 2; }

  /// Places one circle at an end, and the other at the opposite end of the same or of the other contour. Both opposite ends
  /// must have similar distances from the first circle and from the picture's middle, so that positions do not reveal the
  /// label. Returns nullopt if no choice of ends fits.
  std::optional<std::array<Point, 2>> place_circles(bool connected) {
    const auto end = [&](std::size_t row, bool last) { return last ? rows_[row].steps.back().line.to : rows_[row].at; };
    // Greatest allowed difference of distances. Shorter contours are straighter, so their distances differ less.
    const auto much = form_.contour * form_.contour * form_.paddle / 140;
    std::array<std::size_t, 4> order = {0, 1, 2, 3};
    shuffle(order, random_);
    for (const auto which : order) {
      const auto row = which / 2;
      const bool last = which % 2 == 1;
      const auto one = end(row, last), same = end(row, !last), other = end(1 - row, !last);
      const Point middle{form_.side / 2, form_.side / 2};
      if (std::abs(distance(one, same) - distance(one, other)) <= much &&
          std::abs(distance(middle, same) - distance(middle, other)) <= much)
        return std::array{one, connected ? same : other};
    }
    return std::nullopt;
  }

  /// Draws a short contour, or leaves it out if there is no room.
  void add_distractor() {
    auto& row = rows_.emplace_back();
    for (int i = 0; i < kTriesToBegin; ++i) {
      row = {{drawn(form_.side), drawn(form_.side)}};
      while (std::ssize(row.steps) < form_.distractor && extend(row)) {
      }
      if (std::ssize(row.steps) == form_.distractor) return;
    }
    rows_.pop_back();
  }

  const Form& form_;
  std::mt19937_64& random_;
  std::vector<Row> rows_;    ///< the two long contours first
  std::vector<Point> tips_;  ///< possible positions of circles
};

}  // namespace

Form form_of(std::int64_t side, std::int64_t contour) {
  if (contour != 6 && contour != 9 && contour != 14)
    throw std::invalid_argument("contour = " + std::to_string(contour) + ", expected 6, 9 or 14");
  // Sizes and contrasts of the Long Range Arena's builder, with two differences. A gap is one margin long here, and two
  // margins in the builder. At 32 x 32, the builder's short contours are a third brighter than its long ones, unlike here.
  Form form{.side = side * kPixel, .contour = static_cast<int>(contour), .distractor = static_cast<int>(contour) / 3};
  switch (side) {
    case 32:
      form.paddle = 2 * kPixel, form.thickness = kPixel / 2, form.grey = 3 * 255 / 2, form.gap = kPixel,
      form.clear = 2 * kPixel;
      form.radius = 3 * kPixel / 2, form.apart = 7 * kPixel, form.distractors = 20 / form.distractor;
      break;
    case 64:
      form.paddle = 5 * kPixel, form.thickness = kPixel, form.grey = 4 * 255 / 5, form.gap = kPixel,
      form.clear = 5 * kPixel / 2;
      form.radius = 5 * kPixel / 2, form.apart = 12 * kPixel, form.distractors = 22 / form.distractor;
      break;
    case 128:
      form.paddle = 5 * kPixel, form.thickness = 3 * kPixel / 2, form.grey = 9 * 255 / 10, form.gap = 5 * kPixel / 2,
      form.clear = 4 * kPixel;
      form.radius = 3 * kPixel, form.apart = 20 * kPixel, form.distractors = 35 / form.distractor;
      break;
    default:
      throw std::invalid_argument("size = " + std::to_string(side) + ", expected 32, 64 or 128");
  }
  return form;
}

Drawing draw(const Form& form, bool connected, std::mt19937_64& random) {
  for (;;)
    if (auto drawing = Pen(form, random).draw(connected)) return std::move(*drawing);
}

}  // namespace ablate::pathfinder
