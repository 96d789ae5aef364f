SELECT experiment, "environment.git", key, data_digest, seed, task, "task.black", "task.data", "task.data_seed", "task.dev", "task.dev_pictures",
  "task.grey", "task.objective", "task.pool", "train.steps", "train.batch", "train.test_batches", "attention.0", "attention.0.window",
  "attention.1", "attention.1.window", "attention.0.parts.0", "attention.0.parts.0.assignment", "attention.0.parts.0.clusters",
  "attention.1.parts.0", "model.layers", "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters",
  "test/bits_per_dimension", "train/step_cpu_time"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'routing-small' AND listed AND outcome = 'done'
ORDER BY position
