SELECT experiment, "environment.git", key, seed,
  "attention.0", "attention.0.window", "attention.1", "attention.1.window", "attention.0.parts.0", "attention.0.parts.0.assignment",
  "attention.0.parts.0.clusters", "attention.1.parts.0", "model.layers", "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters",
  "test/bits_per_dimension", "train/step_cpu_time"
FROM trials JOIN members USING (trial) JOIN (SELECT attempt, environment ->> '$.git' AS "commit" FROM attempts) USING (attempt)
WHERE experiment = 'routing-small' AND listed AND outcome = 'done'
ORDER BY position
