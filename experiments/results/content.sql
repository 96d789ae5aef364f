SELECT experiment, "environment.git", key, data_digest, seed, task, "task.length", "task.pairs", "task.keys", "task.values", "task.train",
  "task.dev", "task.test", "train.steps", "train.batch", "train.learning_rate", attention, "attention.window", "attention.clusters",
  "attention.assignment", "attention.decay", "attention.rounds", "attention.chunk",
  CASE "attention.across_buckets" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "attention.across_buckets",
  "attention.block",
  "attention.top", "attention.parts.0", "attention.parts.0.window", "attention.parts.1", "attention.parts.1.window",
  "attention.parts.1.clusters", "attention.parts.1.assignment", "attention.parts.1.rounds", "attention.parts.1.chunk",
  "attention.parts.1.block", "task.test" AS "test/examples[examples]", "model/parameters", "dev/accuracy", "test/accuracy",
  "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'content' AND listed AND outcome = 'done' AND seed <> 101
ORDER BY position
