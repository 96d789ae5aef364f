// One data set on its way through an audit.
#pragma once

#include <set>

#include "core/registry/plugin_info.h"
#include "core/shared/library_watch.h"
#include "core/shared/trial_spec.h"
#include "db/history/store.h"
#include "tools/ablate/audit/audit_run.h"
#include "tools/ablate/check/examination.h"

namespace ablate {

/// A task whose data are prepared.
struct TaskToAudit {
  PluginInfo plugin;
  PluginSpec section;          ///< complete
  nlohmann::json document;     ///< the section as a trial's document has it
  std::string digest;          ///< of the data
  std::set<ExampleRows> rows;  ///< that trials train on and are asked; of a task without a study both splits
};

class AuditedTask {
 public:
  AuditedTask(TaskToAudit task, const AuditArguments& arguments, std::filesystem::path database);

  /// Looks at what the history does not have, and keeps it. Prints lines as they come, where the format is text.
  void run();
  bool is_right() const {
    return !examination_.verdict().has_failed() && (!examination_.is_spoilt() || examination_.ran_out_of_time());
  }
  nlohmann::json to_json() const;

 private:
  bool as_json() const { return arguments_.format == db::Format::kJson; }
  Libraries libraries() const;
  UsedPlugin used() const;
  void head() const;
  bool tell_kept(db::Store& store);
  void look();
  bool can_be_read() const;
  void find_floors(db::Store& store);
  void conclude() const;

  const AuditArguments& arguments_;
  TaskToAudit task_;
  std::filesystem::path database_;
  LibraryWatch watch_;
  db::Audit audit_;
  Examination examination_;
  bool kept_ = false;
  nlohmann::json floors_ = nlohmann::json::array();
};

}  // namespace ablate
