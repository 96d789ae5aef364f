SELECT experiment, "environment.git", key, data_digest, seed, task, "task.data", "task.length", "train.steps", "train.batch",
  "train.learning_rate", attention, "attention.compression", "attention.rate", 266 AS "test/examples[examples]", "model/parameters",
  "dev/accuracy", "test/accuracy", "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'retrieval' AND listed AND outcome = 'done'
ORDER BY position
