#include <SQLiteCpp/SQLiteCpp.h>

#include "db/history/merge.h"
#include "db/history/standing_aliases.h"

namespace ablate::db {

/// A proof is known by when it was made, of what, and where.
void merge_proofs(SQLite::Database& database) {
  database.exec(R"sql(
INSERT INTO main.proof (proven_us, before, now, environment)
  SELECT o.proven_us, o.before, o.now, e.id FROM other.proof o LEFT JOIN environment_of e ON e.old = o.environment
  WHERE NOT EXISTS (SELECT 1 FROM main.proof m WHERE (m.proven_us, m.before, m.now, m.environment)
                    = (o.proven_us, o.before, o.now, e.id)) ORDER BY o.proven_us, o.id;
CREATE TEMP TABLE proof_of (old INTEGER PRIMARY KEY, id INTEGER NOT NULL, withdrawn_us INTEGER);
INSERT INTO proof_of SELECT o.id, m.id, o.withdrawn_us FROM other.proof o JOIN environment_of e ON e.old = o.environment
  JOIN main.proof m ON (m.proven_us, m.before, m.now, m.environment) = (o.proven_us, o.before, o.now, e.id);
UPDATE main.proof AS m SET withdrawn_us = min(coalesce(m.withdrawn_us, x.withdrawn_us), x.withdrawn_us)
  FROM proof_of x WHERE x.id = m.id AND x.withdrawn_us IS NOT NULL;
INSERT INTO main.proof_attempt (proof, attempt)
  SELECT p.id, m.id FROM other.proof_attempt o LEFT JOIN proof_of p ON p.old = o.proof
  LEFT JOIN other.attempt a ON a.id = o.attempt LEFT JOIN main.attempt m ON m.uid = a.uid WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.spare_alias (key, trial, proof, basis, rests_on, added)
  SELECT o.key, t.id, p.id, b.id, o.rests_on, o.added
  FROM (SELECT key, trial, proof, basis, rests_on, added FROM other.alias
        UNION ALL SELECT key, trial, proof, basis, rests_on, added FROM other.spare_alias) o
  LEFT JOIN trial_of t ON t.old = o.trial LEFT JOIN proof_of p ON p.old = o.proof LEFT JOIN basis_of b ON b.old = o.basis
  WHERE true ON CONFLICT DO NOTHING;
)sql");
  settle_aliases(database);
}

}  // namespace ablate::db
