SELECT experiment, "environment.git", key, data_digest, seed, task, iif("task.causal", 'true', 'false') AS "task.causal", "task.data_seed",
  "task.dev", "task.length", "task.pairs", "task.test", "task.train", "task.vocabulary", "train.steps", "train.batch", "train.test_batches",
  attention, "attention.compression", "attention.convolution", "model.layers", "task.test" AS "test/examples[examples]", "model/parameters",
  "dev/accuracy", "test/accuracy", "test/accuracy@pairs=2", "test/accuracy@pairs=4", "test/accuracy@pairs=8", "train/step_cpu_time",
  "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'every-attention-recall' AND listed AND outcome = 'done'
ORDER BY position
