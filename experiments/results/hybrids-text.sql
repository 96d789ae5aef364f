SELECT experiment, "environment.git", key, data_digest, seed, task, "task.data", "task.bytes", "task.length", "train.steps",
  "train.batch", "train.learning_rate", "model.layers", "attention.0", "attention.0.window", "attention.0.convolution", "attention.1",
  "attention.2", "attention.2.window", "attention.3", "attention.3.window", 320 AS "test/examples[examples]", "model/parameters",
  "dev/bits_per_byte", "test/bits_per_byte", "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'hybrids-text' AND listed AND outcome = 'done'
ORDER BY position
