// Names beside points, where they meet nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/types/figure.h"
#include "tools/plot/fonts.h"
#include "tools/plot/geometry.h"

namespace ablate {

struct PlacedName {
  std::string text;
  Box box;
};

/// A place for the name of each series at its first point: in the axes, over no marker and no other name, over as few lines as
/// can be. Nothing where one of them finds none. @param at where a point stands
std::vector<PlacedName> place_names(const db::FigurePanel& panel, const std::function<Place(double x, double y)>& at,
                                    const Box& axes, Fonts& fonts);

}  // namespace ablate
