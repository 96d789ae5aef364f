#include "db/history/standing_aliases.h"

namespace ablate::db {

void settle_aliases(SQLite::Database& database) {
  database.exec(R"sql(
INSERT INTO main.spare_alias (key, trial, proof, basis, rests_on, added)
  SELECT key, trial, proof, basis, rests_on, added FROM main.alias WHERE true ON CONFLICT DO NOTHING;
DELETE FROM main.alias;
DELETE FROM main.spare_alias WHERE proof IN (SELECT id FROM main.proof WHERE withdrawn_us IS NOT NULL);
CREATE TEMP TABLE standing AS
  WITH RECURSIVE good (key) AS (
    SELECT key FROM main.spare_alias WHERE rests_on IS NULL
    UNION SELECT s.key FROM main.spare_alias s JOIN good g ON s.rests_on = g.key)
  SELECT key, proof FROM (
    SELECT s.key, s.proof,
      row_number() OVER (PARTITION BY s.key ORDER BY p.proven_us, p.before, p.now, e.hash) AS rank
    FROM main.spare_alias s JOIN main.proof p ON p.id = s.proof JOIN main.environment e ON e.id = p.environment
    WHERE s.rests_on IS NULL OR s.rests_on IN good)
  WHERE rank = 1;
INSERT INTO main.alias (key, trial, proof, basis, rests_on, added)
  SELECT s.key, s.trial, s.proof, s.basis, s.rests_on, s.added FROM main.spare_alias s JOIN standing USING (key, proof);
DELETE FROM main.spare_alias WHERE (key, proof) IN (SELECT key, proof FROM standing);
DROP TABLE temp.standing;
)sql");
}

}  // namespace ablate::db
