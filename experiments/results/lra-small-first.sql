SELECT experiment, "environment.git", key, data_digest, seed, task, "task.black", "task.contour", "task.data", "task.data_seed", "task.dev",
  "task.dev_from", "task.length", "task.max_arguments", "task.max_depth", "task.max_length", "task.min_length", "task.operator_probability",
  "task.size", "task.test", "task.train", "train.steps", "train.batch", "train.test_batches", attention, "attention.rates",
  CASE "attention.across_buckets" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "attention.across_buckets",
  "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters", "test/accuracy",
  "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'lra-small-first' AND listed AND outcome = 'done'
ORDER BY position
