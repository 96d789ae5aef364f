#include "core/trial/model/embedder.h"

#include <ATen/ops/embedding.h>

#include <cmath>

namespace ablate {

Embedder::Embedder(const ModelOptions& options, const Generator& generator) : options_(options) {
  const auto& fields = options.task.fields;
  for (const auto& field : fields) {
    std::shared_ptr<Table> table;
    std::shared_ptr<Linear> projection;
    const auto name = fields.size() == 1 ? std::string("tokens") : "field_" + field.name;
    if (field.vocabulary > 0)
      modules_.emplace_back(name, table = std::make_shared<Table>(field.vocabulary, options.d_model, generator));
    else
      modules_.emplace_back(name, projection = make_linear(field.reals, options.d_model, true, generator));
    tables_.push_back(std::move(table));
    linears_.push_back(std::move(projection));
  }
  const auto drawn = [&](IntArrayRef sizes) { return empty(sizes).normal_(0, kEmbeddingDeviation, generator); };
  if (options.positions == Positions::kAdded && !options.sinusoidal) positions_ = drawn({options.length(), options.d_model});
  if (options.class_token()) class_token_ = drawn({options.d_model});
}

std::vector<Tensor> Embedder::embeddings() const {
  std::vector<Tensor> all;
  for (const auto& table : tables_)
    if (table) all.push_back(table->weight);
  for (const auto& learned : {positions_, class_token_})
    if (learned.defined()) all.push_back(learned);
  return all;
}

Tensor Embedder::forward(const Batch& batch) const {
  Tensor x;
  for (std::size_t i = 0; i < batch.fields.size(); ++i) {
    const auto& field = batch.fields[i];
    const auto embedded = tables_[i] ? at::embedding(tables_[i]->weight, field)
                                     : linears_[i]->forward(field.to(linears_[i]->weight.scalar_type()));
    x = x.defined() ? x + embedded : embedded;
  }
  if (class_token_.defined()) x = cat({class_token_.expand({x.size(0), 1, -1}), x}, 1);
  if (options_.positions != Positions::kAdded) return x;
  const auto added = options_.sinusoidal ? sinusoids(x.size(1), x.size(2), x.options()) : positions_;
  return x + added.slice(0, 0, x.size(1));
}

Tensor sinusoids(std::int64_t length, std::int64_t channels, const TensorOptions& options) {
  constexpr double kBase = 10000;
  const auto wide = options.dtype(kFloat).requires_grad(false);
  const auto half = (channels + 1) / 2;
  const auto angle = arange(length, wide).unsqueeze(1) *
                     (arange(half, wide) * (-std::log(kBase) / static_cast<double>(half))).exp().unsqueeze(0);
  return cat({angle.sin(), angle.cos()}, 1).narrow(1, 0, channels).to(options.dtype());
}

}  // namespace ablate
