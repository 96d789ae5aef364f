#include "routing.h"

#include <algorithm>

#include "ablate/operation.h"

namespace ablate::adamra {

Tensor Picks::from(const Tensor& matrix) const {
  auto rows = matrix.index_select(0, index);
  return absent.size(0) > 0 ? rows.index_fill_(0, absent, 0) : rows;
}

Assignment assign(const Tensor& chosen, const Tensor& real, std::int64_t heads) {
  // Runs on the host, because the host needs the widths to shape the blocks.
  const auto head_of = chosen.to(at::kCPU).contiguous();
  const auto is_real = real.defined() ? real.to(at::kCPU).contiguous() : real;
  const auto batch = chosen.size(0), n = chosen.size(1);
  const auto* const head = head_of.const_data_ptr<std::int64_t>();
  const bool* const reads = is_real.defined() ? is_real.const_data_ptr<bool>() : nullptr;

  Assignment result;
  result.widths.assign(heads, 0);
  result.counts.assign(heads, 0);
  std::vector<std::int64_t> rank(batch * n), used(heads);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::fill(used.begin(), used.end(), 0);
    for (std::int64_t i = b * n; i < (b + 1) * n; ++i)
      if (reads == nullptr || reads[i]) rank[i] = used[head[i]]++;
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
    if (reads != nullptr && !reads[i]) {
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
  const auto index = [&](const std::vector<std::int64_t>& from) { return integers(from).to(device); };
  result.queries = {index(query_of), index(empty)};
  result.rows = {index(row_of), index(unread)};
  return result;
}

Tensor move_rows(const Tensor& matrix, const Picks& there, const Picks& back) {
  return with_gradient(
      {matrix},
      [&](Saved& saved) {
        saved = {back.index, back.absent};
        return there.from(matrix);
      },
      [](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
        return {Picks{saved[0], saved[1]}.from(gradient)};
      });
}

Tensor weigh_rows(const Tensor& x, const Tensor& weights) {
  return with_gradient(
      {x, weights},
      [&](Saved& saved) {
        auto product = x * weights;
        saved = {product, weights};
        return product;
      },
      [](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
        const auto &product = saved[0], &factors = saved[1];
        return {gradient * factors, (gradient * product).sum(-1, true) / factors};
      });
}

}  // namespace ablate::adamra
