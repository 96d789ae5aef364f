// Checks over all lines of an imported file: one number in several spellings, a run that stands twice, percentages that look
// wrong.
#pragma once

#include "db/types/imported.h"

namespace ablate {

/// Gives all spellings of one number of a parameter one form, so that they are one setting: that of the history, else that of
/// the whole number, else that of the real number. A text such as "04" stays as it is if there is no other spelling.
void unite_numbers(const db::ParameterValues& stored, db::ImportedFile& file);

/// Keeps one of the lines that have the same parameters, seed included: the last that is done, else the last. A note names
/// them.
void keep_each_run_once(db::ImportedFile& file);

/// Notes scores in percent that look like shares of 1, and those above 100.
void note_percentages(db::ImportedFile& file);

}  // namespace ablate
