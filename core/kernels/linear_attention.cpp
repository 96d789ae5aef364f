#include "core/kernels/linear_attention.h"

#include <algorithm>
#include <cmath>

#include "ablate/operation.h"
#include "ablate/torch_parallel.h"
#include "core/kernels/choice.h"
#include "core/kernels/mixed_products.h"

namespace ablate::kernels {
namespace {

constexpr std::int64_t kMostChannels = 256, kMostFeatures = 1024;
constexpr std::size_t kWeights = 6;  // weights of each group

/// Indices of saved tensors: first the common tensors, then the tensors of each group.
enum : std::size_t { kQueries, kFactors, kOutput, kOutputBias, kVectors, kRows, kStarts, kUnread, kGroups };
enum : std::size_t { kContext, kOwnWeights, kMass = kOwnWeights + kWeights, kMemory, kOfGroup };

/// Properties of a call without its tensors.
struct Shape {
  std::int64_t heads;
  FeatureMap map;
  std::size_t groups;
  bool self;  ///< the queries are the context
};

const float* numbers(const Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr; }

cpu::LinearAttentionCall call_of(const Saved& saved, const Shape& shape, std::size_t group) {
  const auto* const own = &saved[kGroups + group * kOfGroup];
  const auto &queries = saved[kQueries], &context = own[kContext], &vectors = saved[kVectors];
  const auto weight = [&](std::size_t i) { return numbers(own[kOwnWeights + i]); };
  const auto batch = queries.size(0);
  const bool grouped = saved[kRows].defined();
  return {.batch = batch,
          .n = queries.size(1),
          .m = context.size(1),
          .d = static_cast<int>(queries.size(2)),
          .heads = static_cast<int>(shape.heads),
          .d_head = static_cast<int>(own[kOwnWeights].size(0) / shape.heads),
          .relu = shape.map == FeatureMap::kRelu,
          .vectors = numbers(vectors),
          .features = vectors.defined() ? static_cast<int>(vectors.size(1)) : 0,
          .x = numbers(queries),
          .context = numbers(context),
          .mass = numbers(own[kMass]),
          .wq = weight(0),
          .bq = weight(1),
          .wk = weight(2),
          .bk = weight(3),
          .wv = weight(4),
          .bv = weight(5),
          .wo = numbers(saved[kOutput]),
          .bo = numbers(saved[kOutputBias]),
          .rows = grouped ? saved[kRows].const_data_ptr<std::int64_t>() : nullptr,
          .starts = grouped ? saved[kStarts].const_data_ptr<std::int64_t>() + static_cast<std::int64_t>(group) * (batch + 1)
                            : nullptr,
          .factors = numbers(saved[kFactors]),
          .product = product()};
}

/// Calls `work` for each thread and group, with the indexes of both, the first sequence, the part of the call and scratch.
template <class Work>
void share_out(const Saved& saved, const Shape& shape, std::int64_t threads, const Work& work) {
  const auto floats = cpu::linear_attention_scratch(call_of(saved, shape, 0));
  // One allocation for all threads, so that the peak of memory is the same in each call.
  const auto scratch = empty({threads, floats}, TensorOptions().dtype(kFloat));
  auto* const first = scratch.mutable_data_ptr<float>();
  in_parallel(threads, [&](std::int64_t i) {
    const ShareOfProducts share;
    for (std::size_t group = 0; group < shape.groups; ++group) {
      auto part = call_of(saved, shape, group);
      const auto begin = part.batch * i / threads, end = part.batch * (i + 1) / threads;
      part.batch = end - begin;
      part.x += begin * part.n * part.d, part.context += begin * part.m * part.d;
      if (part.mass != nullptr) part.mass += begin * part.m;
      if (part.factors != nullptr) part.factors += begin * part.n;
      if (part.starts != nullptr) part.starts += begin;
      work(i, group, begin, part, first + i * floats);
    }
  });
}

/// @return the gradient of each input, in their order
std::vector<Tensor> backward(const Shape& shape, const Tensor& dy, const Saved& saved) {
  const auto threads = parts_for_threads(saved[kQueries].size(0));
  const auto options = dy.options().requires_grad(false);
  const auto &unread = saved[kUnread], &factors = saved[kFactors];
  const auto like = [&](const Tensor& x) { return unread.defined() ? zeros(x.sizes(), options) : empty(x.sizes(), options); };
  const auto by_thread = [&](const Tensor& x) {
    auto sizes = x.sizes().vec();
    sizes.insert(sizes.begin(), threads);
    return zeros(sizes, options);
  };
  std::vector<Tensor> gradients{like(saved[kQueries]), factors.defined() ? like(factors) : Tensor(), by_thread(saved[kOutput]),
                                by_thread(saved[kOutputBias])};
  for (std::size_t group = 0; group < shape.groups; ++group) {
    const auto* const own = &saved[kGroups + group * kOfGroup];
    gradients.push_back(shape.self ? Tensor() : empty(own[kContext].sizes(), options));
    for (std::size_t i = 0; i < kWeights; ++i) gradients.push_back(by_thread(own[kOwnWeights + i]));
  }
  const auto to = [&](std::size_t i, std::int64_t first) {
    return gradients[i].defined() ? gradients[i].mutable_data_ptr<float>() + first : nullptr;
  };
  const auto* const of_y = dy.const_data_ptr<float>();
  share_out(saved, shape, threads,
            [&](std::int64_t i, std::size_t group, std::int64_t begin, const cpu::LinearAttentionCall& part, float* scratch) {
              const auto row = [&](std::size_t of) { return to(of, i * gradients[of][0].numel()); };
              const auto queries = begin * part.n * part.d;
              const auto own = kOutputBias + 1 + group * (1 + kWeights);
              form().linear_attention_backward(
                  part, scratch, numbers(saved[kGroups + group * kOfGroup + kMemory]) + begin * part.memory(), of_y + queries,
                  {to(kQueries, queries), to(own, begin * part.m * part.d), row(own + 1), row(own + 2), row(own + 3),
                   row(own + 4), row(own + 5), row(own + 6), row(kOutput), row(kOutputBias), to(kFactors, begin * part.n)});
            });
  for (std::size_t i = kOutput; i < gradients.size(); ++i)
    if (i <= kOutputBias || (i - kOutputBias - 1) % (1 + kWeights) != 0)
      gradients[i] = threads == 1 ? gradients[i].squeeze(0) : gradients[i].sum(0);
  if (unread.defined()) gradients[kOutputBias] = gradients[kOutputBias] + dy.flatten(0, 1).index_select(0, unread).sum(0);
  return gradients;
}

/// Queries' rows, sorted by group, then by sequence; the start of each sequence in each group; the rows in no group.
struct GroupedRows {
  Tensor rows, starts, unread;
};
GroupedRows grouped_rows(const Tensor& group_of, std::int64_t groups) {
  const auto batch = group_of.size(0), n = group_of.size(1);
  const auto of = group_of.contiguous();
  const auto* const group = of.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> unread;
  auto rows = empty({batch * n}, of.options()), starts = empty({groups, batch + 1}, of.options());
  auto *const row = rows.mutable_data_ptr<std::int64_t>(), *const start = starts.mutable_data_ptr<std::int64_t>();
  std::int64_t next = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t b = 0; b < batch; ++b) {
      start[g * (batch + 1) + b] = next;
      for (std::int64_t i = 0; i < n; ++i)
        if (group[b * n + i] == g) row[next++] = i;
    }
    start[g * (batch + 1) + batch] = next;
  }
  for (std::int64_t i = 0; i < batch * n; ++i)
    if (group[i] < 0) unread.push_back(i);
  return {rows, starts, unread.empty() ? Tensor() : integers(unread)};
}

/// True if there is a fused form for these channels of a token, and of all heads together (`width`).
bool widths_fit(const Tensor& queries, std::int64_t width, std::int64_t heads) {
  return queries.dim() == 3 && queries.numel() > 0 && heads > 0 && width > 0 && width % heads == 0 &&
         width / heads % cpu::kLanes == 0 && queries.size(2) % cpu::kLanes == 0 &&
         std::max(queries.size(2), width) <= kMostChannels;
}

/// True if the sizes fit the form. If not, the reference runs: it accepts the sizes, or its error says what is wrong with them.
bool fits(const LinearAttention& of) {
  if (of.groups.empty() || of.output.dim() != 2 || !widths_fit(of.queries, of.output.size(1), of.heads)) return false;
  const auto batch = of.queries.size(0), n = of.queries.size(1), d = of.queries.size(2), width = of.output.size(1);
  const auto inward = [&](const Tensor& weight, const Tensor& bias) {
    return weight.sizes().equals({width, d}) && bias.sizes().equals({width});
  };
  const bool sizes = of.output.sizes().equals({d, width}) && of.output_bias.sizes().equals({d});
  const auto features = of.vectors.defined() && of.vectors.dim() == 3 ? of.vectors.size(1) : 0;
  const bool vectors = !of.vectors.defined() ||
                       (features > 0 && features <= kMostFeatures && features % cpu::kLanes == 0 &&
                        of.vectors.sizes().equals({of.heads, features, width / of.heads}) && !of.vectors.requires_grad());
  return sizes && vectors && (!of.group_of.defined() || of.group_of.sizes().equals({batch, n})) &&
         (!of.factors.defined() || of.factors.sizes().equals({batch, n})) &&
         std::ranges::all_of(of.groups, [&](const QueryGroup& group) {
           const auto& context = group.context;
           return context.dim() == 3 && context.numel() > 0 && context.size(0) == batch && context.size(2) == d &&
                  inward(group.query, group.query_bias) && inward(group.key, group.key_bias) &&
                  inward(group.value, group.value_bias) &&
                  (!group.mass.defined() || group.mass.sizes().equals({batch, context.size(1)}));
         });
}

}  // namespace

Tensor fused_linear_attention(const LinearAttention& of) {
  const Shape shape{of.heads, of.map, of.groups.size(), of.groups.front().context.is_same(of.queries)};
  std::vector<Tensor> inputs{of.queries, of.factors, of.output, of.output_bias};
  for (const auto& group : of.groups)
    for (const auto* tensor :
         {&group.context, &group.query, &group.query_bias, &group.key, &group.key_bias, &group.value, &group.value_bias})
      inputs.push_back(*tensor);
  return with_gradient(
      inputs,
      [&](Saved& saved) {
        const auto contiguous_or_undefined = [](const Tensor& x) { return x.defined() ? x.contiguous() : x; };
        const auto options = of.queries.options().requires_grad(false);
        const auto scale = of.vectors.defined() ? std::pow(static_cast<double>(of.vectors.size(2)), -0.25) : 1.0;
        const auto grouped =
            of.group_of.defined() ? grouped_rows(of.group_of, static_cast<std::int64_t>(shape.groups)) : GroupedRows();
        saved = {contiguous_or_undefined(of.queries),
                 contiguous_or_undefined(of.factors),
                 contiguous_or_undefined(of.output),
                 contiguous_or_undefined(of.output_bias),
                 of.vectors.defined() ? (of.vectors * scale).contiguous() : Tensor(),
                 grouped.rows,
                 grouped.starts,
                 grouped.unread};
        for (std::size_t group = 0, i = kOutputBias + 1; group < shape.groups; ++group) {
          for (std::size_t j = 0; j < 1 + kWeights; ++j) saved.push_back(contiguous_or_undefined(inputs[i++]));
          const auto& mass = of.groups[group].mass;
          saved.push_back(mass.defined() ? mass.to(kFloat).contiguous() : Tensor());
          saved.emplace_back();
          const auto call = call_of(saved, shape, group);
          saved.back() = empty({call.batch, call.memory()}, options);
        }
        auto y = empty(of.queries.sizes(), options);
        if (grouped.unread.defined())
          y.flatten(0, 1).index_copy_(0, grouped.unread, of.output_bias.expand({grouped.unread.size(0), -1}));
        auto* const to = y.mutable_data_ptr<float>();
        share_out(
            saved, shape, parts_for_threads(y.size(0)),
            [&](std::int64_t, std::size_t group, std::int64_t begin, const cpu::LinearAttentionCall& part, float* scratch) {
              auto* const memory = saved[kGroups + group * kOfGroup + kMemory].mutable_data_ptr<float>();
              form().linear_attention(part, scratch, to + begin * part.n * part.d, memory + begin * part.memory());
            });
        return y;
      },
      [shape](const Tensor& dy, const Saved& saved) { return backward(shape, dy.contiguous(), saved); });
}

bool may_fuse_widths(const Tensor& queries, std::int64_t width, std::int64_t heads) {
  return may_fuse(Choice::kFused, {queries}) && widths_fit(queries, width, heads);
}

bool may_fuse(const LinearAttention& of) {
  std::vector<Tensor> tensors{of.queries, of.output, of.output_bias};
  for (const auto* tensor : {&of.factors, &of.vectors})
    if (tensor->defined()) tensors.push_back(*tensor);
  for (const auto& group : of.groups)
    for (const auto* tensor :
         {&group.context, &group.query, &group.query_bias, &group.key, &group.key_bias, &group.value, &group.value_bias})
      tensors.push_back(*tensor);
  return may_fuse(Choice::kFused, tensors) && fits(of);
}

std::int64_t cpu::linear_attention_scratch(const LinearAttentionCall& call) {
  const std::int64_t d = call.d, w = call.width(), f = call.of_head(), memory = w * f;
  return 4 * d * w + (call.vectors != nullptr ? 3 : 2) * memory + call.heads * f + kTile * (6 * d + 5 * w + 2 * f + 4);
}

}  // namespace ablate::kernels
