SELECT experiment, "environment.git", key, data_digest, seed, task, "task.length", "task.symbols", "task.train", "task.dev", "task.test",
  "model.segment", "model.cut", "train.steps", "train.batch", "train.learning_rate", attention, "attention.memory", "attention.slots",
  CASE "attention.sticky" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "attention.sticky", "attention.compression",
  "task.test" AS "test/examples[examples]", "model/parameters", "dev/accuracy", "test/leading" AS "test/leading[% max]",
  "test/accuracy", "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'sticky' AND listed AND outcome = 'done' AND seed <> 101
ORDER BY position
