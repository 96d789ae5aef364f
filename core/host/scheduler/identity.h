// What a trial's key is made of. Torch-free.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/host/study/study.h"
#include "core/records/identity.h"

namespace ablate {

/// @param files SHA-256 of the files that values name, by path: in a key a file is its content
/// @param data_digest Task::digest
Identity identity_of(const TrialSpec& trial, const std::map<std::string, std::string>& files, const Catalog& catalog,
                     const std::string& data_digest, const std::string& torch_version);

/// "kernels" of its basis: kKernelsVersion where a trial of its settings may run fused forms, else none.
void set_kernels(Identity& identity);

/// An identity in parts, which trials share section by section.
class SharedIdentity {
 public:
  /// Some of the settings, or the basis.
  struct Part {
    explicit Part(nlohmann::json object) : json(std::move(object)), text(json.dump()) {}
    nlohmann::json json;  ///< an object
    std::string text;
  };

  SharedIdentity() = default;
  /// @param settings of a section each, in the order of their names
  SharedIdentity(std::vector<std::shared_ptr<const Part>> settings, std::shared_ptr<const Part> basis)
      : settings_(std::move(settings)), basis_(std::move(basis)) {}

  Identity whole() const;
  std::string key() const;            ///< whole().key(), faster
  std::string settings_text() const;  ///< whole().settings as a text, faster

  const std::vector<std::shared_ptr<const Part>>& settings() const { return settings_; }
  const std::shared_ptr<const Part>& basis() const { return basis_; }

 private:
  std::vector<std::shared_ptr<const Part>> settings_;
  std::shared_ptr<const Part> basis_;
};

/// Makes the identities of a study's trials: what they share is made once.
class Identities {
 public:
  /// The catalog outlives it.
  Identities(const Catalog& catalog, std::string torch_version) : catalog_(catalog), torch_version_(std::move(torch_version)) {}

  /// As identity_of. @param data_digest the same for trials whose task is the same
  SharedIdentity of(const Trial& trial, const std::string& data_digest);

 private:
  using Part = std::shared_ptr<const SharedIdentity::Part>;

  const Catalog& catalog_;
  std::string torch_version_;
  PerSections<Part> attention_{{TrialSection::kAttention}}, model_{{TrialSection::kModel}}, task_{{TrialSection::kTask}},
      train_{{TrialSection::kTrain}}, basis_{{TrialSection::kTask, TrialSection::kAttention}};
  std::map<std::uint64_t, Part> seeds_;
};

/// Paths of values that are the default in both, where the two defaults differ. Paths that one of them lacks, or of which
/// nothing is known (Identity::values), are left out.
std::vector<std::string> changed_defaults(const Identity& now, const Identity& before);

/// What tells two of them apart, each in words: "the code of attention adamra", "train.steps (10, was 20)", "the data".
std::vector<std::string> differences(const Identity& now, const Identity& before);
/// Of these the ones that the settings tell, without making whole() of it.
std::vector<std::string> setting_differences(const SharedIdentity& now, const Identity& before);
/// Of these the ones that the bases tell: of code, data and versions.
std::vector<std::string> basis_differences(const Identity& now, const Identity& before);

}  // namespace ablate
