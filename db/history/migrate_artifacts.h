// Schema 18: the files that a history keeps of its attempts. Internal to db/.
#pragma once

namespace ablate::db {

inline constexpr const char* kArtifactTable = R"sql(
-- A file of an attempt in the folder for its kind beside the history (db/history/artifacts.h). name: begins with the attempt's uid; a kind
-- may have several for one attempt, as checkpoints have. of_bytes: that there were, more where the rest was cut. removed_us: since 1970, UTC;
-- NULL: nobody has removed it.
CREATE TABLE artifact (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempt,
  bytes INTEGER NOT NULL,
  of_bytes INTEGER NOT NULL,
  removed_us INTEGER,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifact_by_attempt ON artifact (attempt);
)sql";

}  // namespace ablate::db
