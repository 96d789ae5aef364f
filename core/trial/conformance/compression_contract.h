// What is checked of a compression, a function each. Each shows the finding what it sees, or throws std::runtime_error saying
// what is wrong. docs/checks.md says what each demands.
#pragma once

#include <optional>

#include "core/trial/conformance/compression_pass.h"

namespace ablate::conformance {

// Slots (compression_slots.cpp).
/// The rates that its factory takes, one below 1 at least.
void rates(const CompressionSubject& subject, Finding& finding);
/// ceil(rate n) slots at any n, and for each item those of its own length.
void slots(const CompressionSubject& subject, Finding& finding);
/// A fixed number of slots for fewer, as many and more tokens; padded as cut.
void fixed_slots(const CompressionSubject& subject, Finding& finding);
/// Keys and values projected after writing, to other heads and channels, can be read; channels in another order change nothing.
void projected(const CompressionSubject& subject, Finding& finding);

// Padding (compression_padding.cpp).
/// An item of L tokens gives the memory, the reads and the gradients of the sequence cut to L.
void padding(const CompressionSubject& subject, Finding& finding);
void padding(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting,
             const std::vector<std::int64_t>& lengths);
/// NaN, infinity or large numbers under the mask change nothing.
void poison(const CompressionSubject& subject, Finding& finding);
void empty_items(const CompressionSubject& subject, Finding& finding);
/// What training moves by itself does not see padding.
void buffers(const CompressionSubject& subject, Finding& finding);
/// Queries under their mask change no memory and no read of the others.
void query_mask(const CompressionSubject& subject, Finding& finding);
/// As many queries as tokens, whose masks differ: neither is taken for the other.
void two_masks(const CompressionSubject& subject, Finding& finding);

// Batches and calls (compression_batch.cpp).
void batch(const CompressionSubject& subject, Finding& finding);
/// Parameters' gradients of a batch are the sums over its items.
void additive(const CompressionSubject& subject, Finding& finding);
/// A call knows nothing of the one before it.
void calls(const CompressionSubject& subject, Finding& finding);
/// Who will read need not be known, and changes nothing where others who read change nothing.
void no_queries(const CompressionSubject& subject, Finding& finding);
/// What is handed in is read, not written.
void inputs(const CompressionSubject& subject, Finding& finding);

// Instances (compression_instances.cpp).
void seed(const CompressionSubject& subject, Finding& finding);
void save(const CompressionSubject& subject, Finding& finding);
void instances(const CompressionSubject& subject, Finding& finding);
/// Evaluation changes nothing that is registered, draws nothing, and depends on no generator.
void frozen(const CompressionSubject& subject, Finding& finding);
void step(const CompressionSubject& subject, Finding& finding);
/// Made in one thread and called from another it gives the same.
void threads(const CompressionSubject& subject, Finding& finding);
void kept(const CompressionSubject& subject, Finding& finding);
void training(const CompressionSubject& subject, Finding& finding);

// Gradients (compression_gradients.cpp).
void gradient(const CompressionSubject& subject, Finding& finding);
void trained(const CompressionSubject& subject, Finding& finding);
/// Every token is read by someone: none is left out for where it stands.
void reach(const CompressionSubject& subject, Finding& finding);
/// An auxiliary loss has its gradients, and does not fall without bound.
void auxiliary(const CompressionSubject& subject, Finding& finding);

// Types (compression_types.cpp).
void scale(const CompressionSubject& subject, Finding& finding);
void type(const CompressionSubject& subject, Finding& finding);
/// Compares fused and other reads in float32 with float64, at the shapes of studies.
void forms(const CompressionSubject& subject, Finding& finding);
void half(const CompressionSubject& subject, Finding& finding);

// What slots stand for (compression_mass.cpp).
void constants(const CompressionSubject& subject, Finding& finding);
void mass(const CompressionSubject& subject, Finding& finding);
void lossless(const CompressionSubject& subject, Finding& finding);
/// Projections of slots are slots of projections, whatever the tokens are; reads are kernel attention.
void means(const CompressionSubject& subject, Finding& finding);

// Order (compression_causal.cpp).
void causal_reads(const CompressionSubject& subject, Finding& finding);
/// A slot changes with its last token, and with none behind it.
void last(const CompressionSubject& subject, Finding& finding);

// Slots beside tokens, and where reads look (compression_slots.cpp).
/// A softmax read is softmax over the slots' keys, each of which counts mass times.
void beside(const CompressionSubject& subject, Finding& finding);
/// Where reads look: shares of each query that reads, which give the read where slots stand beside tokens; asking for them
/// changes nothing.
void looks(const CompressionSubject& subject, Finding& finding);

// At lengths where code with blocks takes other ways (compression_lengths.cpp): each widens the check of its name.
/// Segments of 300 tokens, where its factory takes them.
std::optional<Slots> long_segments(const CompressionSubject& subject);
/// Up to 16 items of as many lengths in a batch, padded to and cut at turning lengths, of segments of 300 tokens, too.
void padding_of_many(const CompressionSubject& subject, Finding& finding);
/// Eight items of one length, each against itself alone.
void batch_of_many(const CompressionSubject& subject, Finding& finding);
void constants_of(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting, std::int64_t n);
void constants_of_many(const CompressionSubject& subject, Finding& finding);
/// Parts of more than 256 tokens.
void extends_beyond(const CompressionSubject& subject, Finding& finding);
/// Other tokens from every place on change no causal read before it, at up to 1,100 tokens (compression_causal.cpp).
void causal_places(const CompressionSubject& subject, Finding& finding);

// A memory held (compression_extends.cpp).
void extends(const CompressionSubject& subject, Finding& finding);
/// Compares a batch of nine items that is extended with each of them alone.
void batch_of_held(const CompressionSubject& subject, Finding& finding);
void log_scale(const CompressionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
