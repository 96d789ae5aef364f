#include "routing.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace ablate::adamra {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

class MoveRows : public Function<MoveRows> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& matrix, const Picks& there, const Picks& back) {
    context->save_for_backward({back.index, back.absent});
    return there.from(matrix);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {Picks{saved[0], saved[1]}.from(gradients[0]), {}, {}};
  }
};

class WeighRows : public Function<WeighRows> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x, const torch::Tensor& weights) {
    auto product = x * weights;
    context->save_for_backward({product, weights});
    return product;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &product = saved[0], &weights = saved[1];
    return {gradients[0] * weights, (gradients[0] * product).sum(-1, true) / weights};
  }
};

}  // namespace

torch::Tensor Picks::from(const torch::Tensor& matrix) const {
  auto rows = matrix.index_select(0, index);
  return absent.size(0) > 0 ? rows.index_fill_(0, absent, 0) : rows;
}

Assignment assign(const torch::Tensor& chosen, const torch::Tensor& real, std::int64_t heads) {
  // On the host: the widths are needed here anyway, to shape the blocks.
  const auto head_of = chosen.to(torch::kCPU).contiguous();
  const auto is_real = real.defined() ? real.to(torch::kCPU).contiguous() : real;
  const auto batch = chosen.size(0), n = chosen.size(1);
  const auto* const head = head_of.const_data_ptr<std::int64_t>();
  const bool* const kept = is_real.defined() ? is_real.const_data_ptr<bool>() : nullptr;

  Assignment result;
  result.widths.assign(heads, 0);
  result.counts.assign(heads, 0);
  std::vector<std::int64_t> rank(batch * n), used(heads);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::fill(used.begin(), used.end(), 0);
    for (std::int64_t i = b * n; i < (b + 1) * n; ++i)
      if (kept == nullptr || kept[i]) rank[i] = used[head[i]]++;
    for (std::int64_t h = 0; h < heads; ++h) {
      result.widths[h] = std::max(result.widths[h], used[h]);
      result.counts[h] += used[h];
    }
  }
  std::vector<std::int64_t> start(heads);
  std::int64_t rows = 0;
  for (std::int64_t h = 0; h < heads; ++h) {
    start[h] = rows;
    rows += batch * result.widths[h];
  }
  std::vector<std::int64_t> query_of(rows, 0), row_of(batch * n, 0);
  std::vector<std::uint8_t> filled(rows, 0);
  std::vector<std::int64_t> empty, unread;
  for (std::int64_t i = 0; i < batch * n; ++i) {
    if (kept != nullptr && !kept[i]) {
      unread.push_back(i);
      continue;
    }
    const auto row = start[head[i]] + i / n * result.widths[head[i]] + rank[i];
    query_of[row] = i;
    row_of[i] = row;
    filled[row] = 1;
  }
  for (std::int64_t row = 0; row < rows; ++row)
    if (filled[row] == 0) empty.push_back(row);
  const auto device = chosen.device();
  const auto index = [&](const std::vector<std::int64_t>& from) {
    return torch::tensor(torch::ArrayRef<std::int64_t>(from), torch::kInt64).to(device);
  };
  result.queries = {index(query_of), index(empty)};
  result.rows = {index(row_of), index(unread)};
  return result;
}

torch::Tensor move_rows(const torch::Tensor& matrix, const Picks& there, const Picks& back) {
  return MoveRows::apply(matrix, there, back);
}

torch::Tensor weigh_rows(const torch::Tensor& x, const torch::Tensor& weights) { return WeighRows::apply(x, weights); }

}  // namespace ablate::adamra
