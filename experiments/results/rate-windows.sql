SELECT experiment, "environment.git", key, data_digest, seed, task, "task.length", "task.vocabulary", "task.pairs", "task.train",
  "task.dev", "task.test", "train.steps", "train.batch", "train.learning_rate", "model.layers", attention, "attention.convolution",
  "attention.decay", CASE "attention.gate" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "attention.gate", "attention.key_width",
  "task.test" AS "test/examples[examples]", "model/parameters", "dev/accuracy", "test/accuracy", "test/accuracy@pairs=4",
  "test/accuracy@pairs=8", "test/accuracy@pairs=16", "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'rate-windows' AND outcome = 'done' AND seed IN (101, 102, 103, 104)
ORDER BY position
