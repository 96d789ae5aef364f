// The checks of an attention, a function each. Each shows the finding what it sees, or throws std::runtime_error saying what is
// wrong. docs/checks.md says what each demands.
#pragma once

#include <map>

#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/lengths.h"

namespace ablate::conformance {

// Numbers, whatever is promised (attention_numbers.cpp).
/// float32 gives float32, near float64: outputs and gradients, with and without padding, in training, too, and at lengths that
/// cross blocks.
void types(const AttentionSubject& subject, Finding& finding);
/// Fused forms and reference kernels in float32, on one thread and two, and mixed products if this processor has them, of 64
/// channels. A batch gives what its items give in float64, alone and cut to their lengths: outputs and gradients, padded,
/// causal, over another sequence, over segments, and with dropped weights.
void forms(const AttentionSubject& subject, Finding& finding);
/// 1 to 80 tokens: the right shape, and finite.
void lengths(const AttentionSubject& subject, Finding& finding);
/// 1003 tokens, which no usual block divides: outputs and gradients are finite.
void long_sequence(const AttentionSubject& subject, Finding& finding);
/// Outputs of an item do not depend on its batch mates: in every type, in training, too, and beyond a block.
void batch(const AttentionSubject& subject, Finding& finding);
/// Inputs of scale 1e4 in float32: outputs and gradients are finite.
void scale(const AttentionSubject& subject, Finding& finding);
/// float16 and bfloat16 against float64 with the same rounded weights and inputs, up to lengths at which a sum kept in half
/// precision stands still, and over as many tokens in segments: outputs, gradients and the last state are no further off than
/// rounding the inputs alone makes float64, times a factor.
void half(const AttentionSubject& subject, Finding& finding);
/// If all tokens are alike, their number makes no difference, in self- and in cross-attention of another length: the
/// weights of a normalised attention sum to 1 over the keys. Where the values alone are alike, what is read is that value.
void constants(const AttentionSubject& subject, Finding& finding);
/// With rotary positions: none are 0, and each item has its own.
void positions(const AttentionSubject& subject, Finding& finding);
/// Measuring changes no output, and what is measured is a named number.
void measure(const AttentionSubject& subject, Finding& finding);
/// weights(), if some instance reports any (has_weights): a row adds up to 1, or is 0; no weight is on what a query may not
/// see; weights times values, through the output projection, are the output. Padded, over another sequence, and rotary, as
/// promised.
void weights(const AttentionSubject& subject, Finding& finding);
bool has_weights(const AttentionSubject& subject);
/// output_projections(), if there are any: with all of their weights at 0 the output is the sum of their biases.
void projections(const AttentionSubject& subject, Finding& finding);
bool has_projections(const AttentionSubject& subject);
/// Equality that it declares with another plugin of the same weights: outputs and gradients, with and without padding, in
/// float64 and float32, in training, too, and at lengths that cross blocks.
void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding);

// Gradients, and whom they reach (attention_gradients.cpp).
/// Central differences of the weighted outputs and the auxiliary loss: along one random direction for every parameter and
/// input, and along one in all of them with and without padding, in training and in evaluation, over several blocks, and over
/// another sequence. Straight-through estimators are held to the surrogate that they declare.
void gradient(const AttentionSubject& subject, Finding& finding);
/// The gradient of a batch in a parameter is the sum of its items', each cut to its length.
void additive(const AttentionSubject& subject, Finding& finding);
/// In training a gradient above rounding reaches every row and every column of every parameter, bidirectional and causal each
/// by itself, but for what is exempt, and none reaches a tensor that is not registered. Where some weights close a gate, others
/// may open it.
void trained(const AttentionSubject& subject, Finding& finding);
/// An auxiliary loss is finite, and does not fall without bound as the parameters grow, shrink or change their sign.
void auxiliary(const AttentionSubject& subject, Finding& finding);
/// Central differences along one direction in all parameters and inputs at once, and one by one if that is wrong or `each` is
/// asked for, so that what is wrong has a name. If a choice turns within a step, other tokens are tried; if one does in all of
/// them, the finding is told that this is left (attention_differences.cpp).
void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding);

// Instances: all that they keep and draw (attention_instances.cpp).
/// Changing all that one instance owns changes nothing in another.
void instances(const AttentionSubject& subject, Finding& finding);
/// The same seed gives the same bits, whatever torch's global generator does; also in training, forward and backward, and
/// through on_step at steps at which features are redrawn.
void seed(const AttentionSubject& subject, Finding& finding);
/// Evaluation gives the same twice, from any generator, draws nothing, and changes nothing registered.
void evaluation(const AttentionSubject& subject, Finding& finding);
/// Inputs are read, not written, in every setting.
void inputs(const AttentionSubject& subject, Finding& finding);
/// A call depends on what it is given, not on the calls before: other tokens and another mask of one shape, in both orders,
/// against new instances; the inputs of the first call are overwritten after it.
void calls(const AttentionSubject& subject, Finding& finding);
/// Made in one thread and called from another it gives the same.
void threads(const AttentionSubject& subject, Finding& finding);
/// Registered tensors are all that there is: copied into an instance of another seed after some steps, it gives the same
/// outputs, in evaluation and in training.
void save(const AttentionSubject& subject, Finding& finding);
/// on_step changes no parameter.
void step(const AttentionSubject& subject, Finding& finding);
/// Registered tensors have the types that Kept gives them, also after a step, and whole numbers that half precision cannot
/// hold are kept. Says what is kept and what does not decay.
void kept(const AttentionSubject& subject, Finding& finding);

// Promises about the context: padding, the future, cross-attention (attention_context.cpp, attention_future.cpp).
/// Padded against cut to its length, item by item, in every setting and at lengths that cross blocks; cross as well where
/// promised; the auxiliary loss of an item by itself. In narrow types by the median of an item, since a decision may fall
/// otherwise.
void padding(const AttentionSubject& subject, Finding& finding);
/// Items of one padded batch, each against itself cut to its length. @param many of them: then none is a batch of one as well
void padding_of(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths, bool cross,
                bool many, Finding& finding);
/// Other numbers under the mask, NaN and infinity among them: the same outputs, gradients, states and auxiliary loss, in every
/// setting.
void poison(const AttentionSubject& subject, Finding& finding);
/// Nothing to attend to: 0 before the output projection, so the bias of the layer that makes the outputs.
void empty(const AttentionSubject& subject, Finding& finding);
/// One instance may be used as self- and as cross-attention: a copy of the tokens as the context changes nothing, in every
/// setting.
void cross(const AttentionSubject& subject, Finding& finding);
/// If queries and context are two sequences, queries under their own mask change no output of the others.
void query_mask(const AttentionSubject& subject, Finding& finding);
/// As many queries as keys, of two sequences whose masks differ: neither is taken for the other.
void two_masks(const AttentionSubject& subject, Finding& finding);
/// Tokens under a mask anywhere are as good as absent: what stands there changes nothing, and where constants are promised to
/// stay what they are they are not counted.
void holes(const AttentionSubject& subject, Finding& finding);
/// No output depends on a later input: by gradients, and by the outputs and gradients where later tokens are others (a detached
/// statistic, a sort); over several blocks, padded, in every setting, and with a memory in front where one is carried.
void causal(const AttentionSubject& subject, Finding& finding);
/// Some output depends on a later input.
void bidirectional(const AttentionSubject& subject, Finding& finding);
/// Every token reaches the outputs at the end and in the middle that may see it, and where it is bidirectional the first one.
void reach(const AttentionSubject& subject, Finding& finding);
/// Things that are not promised are refused, or not done: a stand, a state, a length that does not fit.
void refused(const AttentionSubject& subject, Finding& finding);

// Dropout of attention weights (attention_dropout.cpp, attention_dropout_draws.cpp).
/// Off in evaluation. In training drawn from the generator handed in alone, another one for another seed; on the average what
/// no dropout gives; the gradient belongs to what was drawn; padding stays outside.
void weight_dropout(const AttentionSubject& subject, Finding& finding);
/// The share that is dropped and its variance, and that each item, head, query and key has draws of its own, at lengths beyond
/// a block, too: weight by weight if the layers of values and outputs are found by what they do (layers.h). Else unchecked.
void dropout_draws(const AttentionSubject& subject, Finding& finding);

// States, carried from segment to segment (attention_state.cpp, attention_start.cpp).
/// A state is carried by the host alone, in training and in evaluation: apart for each sequence, and for each item of a batch,
/// where a row of the initial state is a new start; detached, it cuts the gradient. Where memories overflow the newest stays.
void state(const AttentionSubject& subject, Finding& finding);
/// Beyond 5,000 tokens float32 gives what float64 does; segments that give the same at near positions do so at far ones.
void state_far(const AttentionSubject& subject, Finding& finding);
/// With the state of a start it gives what it gives where none is carried: nothing is in front.
void start(const AttentionSubject& subject, Finding& finding);
/// Padding in a segment neither decays nor shifts what the next one sees; a segment without any token is none.
void state_padding(const AttentionSubject& subject, Finding& finding);
/// Whole, by segments and token by token: the same outputs, and the same gradients through the state, in training, too.
void recurrent(const AttentionSubject& subject, Finding& finding);

// Lengths at which code with blocks takes other ways, and beyond what is long (attention_lengths.cpp, attention_borders.cpp).
// Each widens the check whose name it has in front. At full depth alone.
/// Batches of up to 16 items of as many lengths: each is what it is alone, in outputs and in its tokens' gradients; padded to
/// turning lengths, and of turning lengths padded to another one. Cross-attention as well where promised.
void padding_of_many(const AttentionSubject& subject, Finding& finding);
/// Eight items of one length, 1 to 7 tokens and turning ones: three of them are what they are alone.
void batch_of_many(const AttentionSubject& subject, Finding& finding);
/// Central differences at 1 to 6 tokens, and at the width of a block.
void gradient_of_few(const AttentionSubject& subject, Finding& finding);
/// 2,113 tokens in one item: numbers are finite; padded at home, it gives what its tokens give alone; where it is causal, other
/// tokens behind position 2,041 change nothing before it. A length that was asked for is looked at in every place, and there
/// the last tokens have to be read, too.
void beyond_long(const AttentionSubject& subject, Finding& finding);
/// Returns the lengths up to which "long" looks, as CheckedLengths.
std::map<std::string, std::int64_t> lengths_looked_at(const AttentionSubject& subject);
/// Segments of more than 256 tokens, by a state, give what the sequence gives at once.
void recurrent_beyond(const AttentionSubject& subject, Finding& finding);
/// Segments of more than 256 tokens: an item with its state is what it is alone.
void state_beyond(const AttentionSubject& subject, Finding& finding);
/// A batch whose item k has other tokens from k on: outputs before k are as they were. Every k of 150 tokens, of 300
/// those at and beside each 16th, of 1,100 each 128th and every 23rd, these in float32 and also behind a state.
void causal_borders(const AttentionSubject& subject, Finding& finding);
/// If the first outputs of lengths that are none of a block's do not depend on what is behind, they do not at turning
/// lengths either: what is cut there gives the same.
void causal_prefixes(const AttentionSubject& subject, Finding& finding);
/// Tokens that are alike, and values that are, bidirectional and causal, padded, at turning lengths and at 2,113 tokens: what
/// is read is that value, once there is something to read, and not a multiple of it.
void constants_everywhere(const AttentionSubject& subject, Finding& finding);
/// Every token arrives at 2 to 7 tokens, at turning lengths and at 2,113.
void reach_everywhere(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
