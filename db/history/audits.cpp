#include "db/history/audits.h"

#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_audit(SQLite::Database& database, const Audit& audit) {
  Statement put(database,
                "INSERT OR REPLACE INTO audit (digest, task, parameters, suite, audited_s, verdict, findings) VALUES (?, ?, ?, "
                "?, ?, ?, ?)");
  execute(put, audit.digest, audit.task, json_text(audit.parameters), audit.suite, audit.audited_s, audit.verdict,
          json_text(audit.findings));
}

std::optional<Audit> find_audit(SQLite::Database& database, const std::string& digest, const std::string& task) {
  Statement ask(database, "SELECT parameters, suite, audited_s, verdict, findings FROM audit WHERE digest = ? AND task = ?");
  SQLite::bind(ask, digest, task);
  if (!ask.executeStep()) return std::nullopt;
  Audit audit{digest, task};
  audit.parameters = stored_json(ask.getColumn(0).getString());
  audit.suite = ask.getColumn(1).getInt64();
  audit.audited_s = ask.getColumn(2).getInt64();
  audit.verdict = ask.getColumn(3).getString();
  audit.findings = stored_json(ask.getColumn(4).getString());
  if (!audit.parameters.is_object() || !audit.findings.is_array()) return std::nullopt;
  return audit;
}

}  // namespace ablate::db
