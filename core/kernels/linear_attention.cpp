#include <algorithm>

#include "ablate/kernel_attention.h"
#include "ablate/operation.h"
#include "ablate/torch_parallel.h"
#include "core/kernels/choice.h"

namespace ablate {
namespace {

using kernels::form;

constexpr std::int64_t kMostChannels = 256;

Tensor reference(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by, FeatureMap map) {
  const auto heads_of = [&](const std::shared_ptr<Linear>& projection, const Tensor& x) {
    return split_heads(projection->forward(x), by.heads);
  };
  const auto q = heads_of(by.query, queries), k = heads_of(by.key, context), v = heads_of(by.value, context);
  const auto mass = mask.defined() ? mask.to(q.scalar_type()).unsqueeze(1) : Tensor();
  return by.output->forward(merge_heads(kernel_attention(q, k, v, mass, map)));
}

/// Saved: queries, context, the eight weights, mass, memory.
enum : std::size_t { kQueries, kContext, kWeights, kMass = kWeights + 8, kMemory };

const float* numbers(const Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr<float>() : nullptr; }

kernels::cpu::LinearAttentionCall call_of(const Saved& saved, std::int64_t heads, FeatureMap map) {
  const auto &queries = saved[kQueries], &context = saved[kContext];
  const auto weight = [&](std::size_t i) { return numbers(saved[kWeights + i]); };
  return {.batch = queries.size(0),
          .n = queries.size(1),
          .m = context.size(1),
          .d = static_cast<int>(queries.size(2)),
          .heads = static_cast<int>(heads),
          .d_head = static_cast<int>(saved[kWeights].size(0) / heads),
          .relu = map == FeatureMap::kRelu,
          .x = numbers(queries),
          .context = numbers(context),
          .mass = numbers(saved[kMass]),
          .wq = weight(0),
          .bq = weight(1),
          .wk = weight(2),
          .bk = weight(3),
          .wv = weight(4),
          .bv = weight(5),
          .wo = weight(6),
          .bo = weight(7),
          .product = kernels::product};
}

/// Calls `work` with each thread's number, first sequence, and part of the call.
template <class Work>
void share_out(const kernels::cpu::LinearAttentionCall& call, std::int64_t threads, const Work& work) {
  const auto floats = kernels::cpu::linear_attention_scratch(call);
  // All threads' at once: a peak of memory that repeats.
  const auto scratch = empty({threads, floats}, TensorOptions().dtype(kFloat));
  auto* const first = scratch.mutable_data_ptr<float>();
  in_parallel(threads, [&](std::int64_t i) {
    const auto begin = call.batch * i / threads, end = call.batch * (i + 1) / threads;
    auto part = call;
    part.batch = end - begin;
    part.x += begin * call.n * call.d, part.context += begin * call.m * call.d;
    if (part.mass != nullptr) part.mass += begin * call.m;
    work(i, begin, part, first + i * floats);
  });
}

/// @return of queries, context (undefined where they are one) and the eight weights
std::vector<Tensor> backward(const kernels::cpu::LinearAttentionCall& call, const Tensor& dy, const Saved& saved, bool self) {
  const auto threads = parts_for_threads(call.batch);
  const auto options = dy.options().requires_grad(false);
  std::vector<Tensor> gradients{empty(saved[kQueries].sizes(), options),
                                self ? Tensor() : empty(saved[kContext].sizes(), options)};
  for (std::size_t i = 0; i < 8; ++i) {  // a row a thread
    auto sizes = saved[kWeights + i].sizes().vec();
    sizes.insert(sizes.begin(), threads);
    gradients.push_back(zeros(sizes, options));
  }
  const auto *of_y = dy.const_data_ptr<float>(), *memory = numbers(saved[kMemory]);
  auto* const of_x = gradients[0].mutable_data_ptr<float>();
  auto* const of_context = self ? nullptr : gradients[1].mutable_data_ptr<float>();
  share_out(call, threads,
            [&](std::int64_t i, std::int64_t begin, const kernels::cpu::LinearAttentionCall& part, float* scratch) {
              const auto row = [&](std::size_t of) {
                return gradients[2 + of].mutable_data_ptr<float>() + i * saved[kWeights + of].numel();
              };
              const auto queries = begin * call.n * call.d, keys = begin * call.m * call.d;
              form().linear_attention_backward(part, scratch, memory + begin * call.memory(), of_y + queries,
                                               {of_x + queries, self ? nullptr : of_context + keys, row(0), row(1), row(2),
                                                row(3), row(4), row(5), row(6), row(7)});
            });
  for (std::size_t i = 2; i < gradients.size(); ++i)
    gradients[i] = threads == 1 ? gradients[i].squeeze(0) : gradients[i].sum(0);
  return gradients;
}

std::vector<Tensor> inputs_of(const Tensor& queries, const Tensor& context, const Projections& by) {
  std::vector<Tensor> inputs{queries, context};
  for (const auto& projection : {by.query, by.key, by.value, by.output})
    inputs.push_back(projection->weight), inputs.push_back(projection->bias);
  return inputs;
}

Tensor fused_form(const std::vector<Tensor>& inputs, const Tensor& mask, std::int64_t heads, FeatureMap map) {
  const bool self = inputs[kQueries].is_same(inputs[kContext]);
  return with_gradient(
      inputs,
      [&](Saved& saved) {
        for (const auto& input : inputs) saved.push_back(input.contiguous());
        saved.push_back(mask.defined() ? mask.to(kFloat).contiguous() : Tensor());
        const auto options = inputs[kQueries].options().requires_grad(false);
        const auto call = call_of(saved, heads, map);
        const auto memory = empty({call.batch, call.memory()}, options);
        saved.push_back(memory);
        auto y = empty(inputs[kQueries].sizes(), options);
        auto *to = y.mutable_data_ptr<float>(), *kept = memory.mutable_data_ptr<float>();
        share_out(call, parts_for_threads(call.batch),
                  [&](std::int64_t, std::int64_t begin, const kernels::cpu::LinearAttentionCall& part, float* scratch) {
                    form().linear_attention(part, scratch, to + begin * call.n * call.d, kept + begin * call.memory());
                  });
        return y;
      },
      [heads, map, self](const Tensor& dy, const Saved& saved) {
        return backward(call_of(saved, heads, map), dy.contiguous(), saved, self);
      });
}

/// What does not fit may still be right for the reference, or its error tells what is wrong.
bool fits(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by) {
  if (by.heads < 1 || queries.dim() != 3 || context.dim() != 3 || by.query->weight.dim() != 2) return false;
  const auto batch = queries.size(0), d = queries.size(2), width = by.query->weight.size(0);
  const auto inward = [&](const std::shared_ptr<Linear>& to) {
    return to->weight.sizes().equals({width, d}) && to->bias.sizes().equals({width});
  };
  return queries.numel() > 0 && context.numel() > 0 && width > 0 && context.size(0) == batch && context.size(2) == d &&
         inward(by.query) && inward(by.key) && inward(by.value) && by.output->weight.sizes().equals({d, width}) &&
         by.output->bias.sizes().equals({d}) && (!mask.defined() || mask.sizes().equals({batch, context.size(1)})) &&
         d % kernels::cpu::kLanes == 0 && width % by.heads == 0 && width / by.heads % kernels::cpu::kLanes == 0 &&
         std::max(d, width) <= kMostChannels;
}

}  // namespace

Tensor projected_kernel_attention(const Tensor& queries, const Tensor& context, const Tensor& mask, const Projections& by,
                                  FeatureMap map, bool fused) {
  const bool self = queries.is_same(context);
  // Zeroed before any product: 0 * NaN would reach the weights' gradients.
  const auto keys = mask.defined() ? context.masked_fill(mask.logical_not().unsqueeze(-1), 0) : context;
  const auto& asking = self ? keys : queries;
  const auto inputs = inputs_of(asking, keys, by);
  const auto choice = fused ? kernels::Choice::kFused : kernels::Choice::kReference;
  if (kernels::may_fuse(choice, inputs) && fits(asking, keys, mask, by)) return fused_form(inputs, mask, by.heads, map);
  return reference(asking, keys, mask, by, map);
}

std::int64_t kernels::cpu::linear_attention_scratch(const LinearAttentionCall& call) {
  const std::int64_t d = call.d, w = call.width(), wider = std::max(d, w);
  return 4 * d * w + kTile * (6 * w + wider + 3 * d + 2 * call.heads) + wider + w * (2 * call.d_head + 1);
}

}  // namespace ablate
