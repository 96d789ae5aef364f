// A heat map: cells with colours and numbers, and the bar that says what the colours are.
#pragma once

#include "db/types/figure.h"
#include "tools/plot/canvas.h"

namespace ablate {

void draw_heat(Canvas& canvas, const Box& axes, const db::FigurePanel& panel, Fonts& fonts);

/// Of the bar and its numbers, right of the axes.
double heat_bar_width(const db::FigureHeat& heat, Fonts& fonts);

}  // namespace ablate
