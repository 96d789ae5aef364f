// Checks of attentions at lengths where code with blocks takes other ways, and beyond what is long: each widens the check whose
// name it has in front (attention_checks.cpp). At full depth alone.
#pragma once

#include <map>

#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/lengths.h"

namespace ablate::conformance {

// Each shows the finding what it sees, or throws std::runtime_error saying what is wrong.

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
/// Where the first outputs of lengths that are none of a block's do not depend on what is behind, they do not at turning
/// lengths either: what is cut there gives the same.
void causal_prefixes(const AttentionSubject& subject, Finding& finding);

/// Tokens that are alike, and values that are, bidirectional and causal, padded, at turning lengths and at 2,113 tokens: what
/// is read is that value, once there is something to read, and not a multiple of it.
void constants_everywhere(const AttentionSubject& subject, Finding& finding);
/// Every token arrives at 2 to 7 tokens, at turning lengths and at 2,113.
void reach_everywhere(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
