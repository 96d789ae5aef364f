SELECT experiment, "environment.git", key, data_digest, seed, task, "task.black", "task.data", "task.data_seed", "task.dev", "task.dev_pictures",
  "task.grey", "task.objective", "task.pool", "train.steps", "train.batch", "train.test_batches", attention, "attention.compression",
  CASE "model.causal" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "model.causal",
  "model.layers", "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters", "test/accuracy",
  "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'every-attention' AND listed AND outcome = 'done'
ORDER BY position
