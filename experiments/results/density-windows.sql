SELECT experiment, "environment.git", key, data_digest, seed, task, "task.objective", "task.data", "task.pool", "task.dev",
  "train.steps", "train.batch", "train.learning_rate", "train.test_batches", attention, "attention.heads", "attention.window",
  "attention.parts.0", "attention.parts.0.assignment", "attention.parts.0.window", "attention.parts.0.clusters", "attention.parts.1",
  "attention.parts.1.window",
  480 AS "test/examples[examples]", "model/parameters", "dev/bits_per_dimension", "test/bits_per_dimension", "train/step_time",
  "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'density-windows' AND listed AND outcome = 'done' AND seed <> 101
ORDER BY position
