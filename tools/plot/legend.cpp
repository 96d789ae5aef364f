#include "tools/plot/legend.h"

#include <algorithm>
#include <utility>

#include "tools/plot/panel.h"

namespace ablate {
namespace {

constexpr double kSample = 20, kBehindSample = 4, kApart = 10;
constexpr double kLineStep = kSmallSize * 1.45;

}  // namespace

void Legend::add_keys(const db::Figure& figure) {
  for (const auto& key : figure.keys) {
    auto& entry = entries_.emplace_back();
    (key.is_mark ? entry.mark : entry.style) = key.number;
    entry.of_any_colour = key.is_mark;
    entry.name = key.name;
  }
}

void Legend::add_series(const db::Figure& figure) {
  for (const auto& panel : figure.panels)
    for (const auto& series : panel.series) {
      const auto is_it = [&](const Entry& entry) {
        return entry.style == series.style && entry.mark == series.mark && entry.name == series.name &&
               entry.tail == series.tail;
      };
      if (!series.name.empty() && std::none_of(entries_.begin(), entries_.end(), is_it))
        entries_.push_back({series.style, series.mark, series.shape, series.name, series.tail});
    }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const auto& a, const auto& b) { return std::pair(a.style, a.mark) < std::pair(b.style, b.mark); });
}

Legend::Legend(const db::Figure& figure, double width, Fonts& fonts) {
  if (figure.keys.empty())
    add_series(figure);
  else
    add_keys(figure);
  double widest = 0;
  for (auto& entry : entries_) {
    entry.name =
        fonts.cut(entry.name, kSmallSize, width - kSample - kBehindSample - fonts.width(entry.tail, kSmallSize)) + entry.tail;
    widest = std::max(widest, fonts.width(entry.name, kSmallSize));
  }
  column_ = kSample + kBehindSample + widest + kApart;
  columns_ = std::clamp<std::size_t>(static_cast<std::size_t>((width + kApart) / column_), 1,
                                     std::max<std::size_t>(entries_.size(), 1));
}

double Legend::height() const {
  const auto rows = (entries_.size() + columns_ - 1) / columns_;
  return static_cast<double>(rows) * kLineStep;
}

void Legend::draw(Canvas& canvas, const Place& at) const {
  const auto rows = (entries_.size() + columns_ - 1) / columns_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    auto style = series_style(entry.style, entry.mark);
    if (entry.of_any_colour) style.colour = kGrey;
    const auto column = i / rows, row = i % rows;
    const Place middle{at.x + static_cast<double>(column) * column_ + kSample / 2,
                       at.y + (static_cast<double>(row) + 0.5) * kLineStep};
    const Place ends[] = {{middle.x - kSample / 2, middle.y}, {middle.x + kSample / 2, middle.y}};
    if (entry.shape != db::FigureSeries::Shape::kMarkers) canvas.line(ends, {style.colour, kLine, style.dash});
    if (entry.shape != db::FigureSeries::Shape::kLine) draw_marker(canvas, middle, style, false);
    canvas.text({middle.x + kSample / 2 + kBehindSample, middle.y}, entry.name, {.size = kSmallSize});
  }
}

}  // namespace ablate
