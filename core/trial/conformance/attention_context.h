// The checks of what an attention promises about its context: padding, the future, cross-attention.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each shows the finding what it sees, or throws std::runtime_error saying what is wrong.

/// Padded against cut to its length, item by item, in every setting and at lengths that cross blocks; cross as well where
/// promised; the auxiliary loss of an item by itself. In narrow types by the median of an item, since a decision may fall
/// otherwise.
void padding(const AttentionSubject& subject, Finding& finding);
/// Other numbers under the mask, NaN and infinity among them: the same outputs, gradients, states and auxiliary loss, in every
/// setting.
void poison(const AttentionSubject& subject, Finding& finding);
/// Nothing to attend to: 0 before the output projection, so the bias of the layer called "output", where there is one.
void empty(const AttentionSubject& subject, Finding& finding);
/// One instance may be used as self- and as cross-attention: a copy of the tokens as the context changes nothing, in every
/// setting.
void cross(const AttentionSubject& subject, Finding& finding);
/// Where queries and context are two sequences, queries under their own mask change no output of the others.
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
/// What is not promised is refused, or not done: a stand, a state, a length that does not fit.
void refused(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
