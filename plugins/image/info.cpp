#include "info.h"

#include "cifar.h"
#include "idx.h"
#include "npz.h"
#include "splits.h"

namespace ablate::image {
namespace {

Shape shape_of(const Folder& files, Colours colours) {
  switch (files.format) {
    case Format::kIdx:
      return read_idx_shape(files.train[0]);
    case Format::kNpz:
      return kImageNetShape;
    default:
      return cifar_shape(colours);
  }
}

}  // namespace

TaskInfo info_of(const Folder& files, Colours colours, std::int64_t pool, bool holes) {
  const auto shape = pooled(shape_of(files, colours), pool);
  TaskInfo info{.length = shape.values(),
                .geometry = {.rows = shape.rows, .columns = shape.columns, .channels = shape.channels}};
  if (colours == Colours::kKept) {
    info.fields = {{.name = "value", .vocabulary = kValues + 1}};
    info.classes = kValues;
    info.objective = Objective::kPositions;
    info.causal = true;
    info.unit = "dimension";
  } else {
    info.fields = {{.name = "grey", .vocabulary = kValues + 1}};
    // Labels are one byte per example, so reading them takes hardly longer than reading a header.
    info.classes = files.format == Format::kIdx ? classes_of(read_idx_labels(files.train[1]), files.train[1]) : kCifarClasses;
    info.holes = holes;
  }
  return info;
}

}  // namespace ablate::image
