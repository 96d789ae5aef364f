// Sequence of kernel launches for decayed sums.
#pragma once

#include "core/kernels/cuda/decayed_sums_backward_form.h"

namespace ablate::kernels::cuda {
namespace {

template <class T>
const char* wrong(const DecayedSums<T>& of) {
  if (of.shape.batch < 0 || of.shape.heads < 1 || of.shape.tokens < 0) return "decayed sums: found a size below 0 or no head";
  if (of.d < 1 || of.d > kMostChannels || of.d_value < 1 || of.d_value > kMostChannels)
    return "decayed sums: expected heads of 1 to 1024 channels";
  if (of.log_decay.data == nullptr && !of.alike && of.shape.batch * of.shape.tokens > 0)
    return "decayed sums: found no log decays, although each channel has its own decay (alike = false)";
  return nullptr;
}

template <class T>
const char* forward(const DecayedSums<T>& of, const Heads<T>& out, float* state, const DecayedSumsSaved& saved, void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto sequences = of.shape.batch * of.shape.heads, chunks = decayed_sums_chunks(of.shape.tokens);
  const auto tiles = pieces(of.d, kSide) * pieces(of.d_value, kSide), numbers = std::int64_t{of.d} * of.d_value;
  const ChunkSums<T> sums{of, of.k, of.v, saved.before, saved.kept};
  const auto* error = launch(chunk_sums<T, true>, sequences * chunks * tiles, kThreads, 0, stream, sums);
  if (error != nullptr) return error;
  error = launch(pass, pieces(sequences * numbers, kThreads), kThreads, 0, stream, saved.before,
                 static_cast<const float*>(saved.kept), of.state, state, sequences, chunks, of.d, of.d_value, false);
  if (error != nullptr) return error;
  return launch(read<T, false>, sequences * chunks, kThreads, 0, stream, ChunkReads<T>{of, of.q, of.v, saved.before, out});
}

template <class T>
const char* backward(const DecayedSums<T>& of, const Heads<const T>& d_out, const float* d_state, const DecayedSumsSaved& saved,
                     const DecayedSumsGradients<T>& to, float* scratch, void* stream) {
  if (const auto* error = wrong(of)) return error;
  const auto sequences = of.shape.batch * of.shape.heads, chunks = decayed_sums_chunks(of.shape.tokens);
  const auto tiles = pieces(of.d, kSide) * pieces(of.d_value, kSide), numbers = std::int64_t{of.d} * of.d_value;
  float *d_after = scratch, *of_queries = d_after + sequences * chunks * numbers;
  float *of_keys = of_queries + sequences * of.shape.tokens * of.d, *through = of_keys + sequences * of.shape.tokens * of.d;
  const auto* error = launch(chunk_sums<T, false>, sequences * chunks * tiles, kThreads, 0, stream,
                             ChunkSums<T>{of, of.q, d_out, d_after, nullptr});
  if (error != nullptr) return error;
  error = launch(pass, pieces(sequences * numbers, kThreads), kThreads, 0, stream, d_after,
                 static_cast<const float*>(saved.kept), d_state, to.state, sequences, chunks, of.d, of.d_value, true);
  if (error != nullptr) return error;
  error = launch(read<T, true>, sequences * chunks, kThreads, 0, stream, ChunkReads<T>{of, of.k, d_out, d_after, to.v});
  if (error != nullptr) return error;
  const DecayedSumsBackward<T> call{of, d_out, saved.before, saved.kept, d_after, of_queries, of_keys, through, to};
  error = launch(between_chunks<T>, 2 * sequences * chunks, kThreads, 0, stream, call);
  if (error != nullptr) return error;
  const auto rows = sequences * chunks * of.d;
  error = launch(through_chunks<T>, pieces(rows, kThreads / 32), kThreads, 0, stream, call, rows);
  if (error != nullptr) return error;
  return launch(chunk_gradients<T>, sequences * chunks, kThreads, 0, stream, call);
}

}  // namespace
}  // namespace ablate::kernels::cuda
