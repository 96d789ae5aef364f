SELECT experiment, "environment.git", key, data_digest, seed, task, "task.data", "task.pool", "train.steps", "train.batch",
  "train.learning_rate", "train.test_batches", attention, "attention.heads", "attention.kernel", iif("attention.orthogonal", 'true', 'false')
  AS "attention.orthogonal", "attention.features", 640 AS "test/examples[examples]", "model/parameters",
  "attention/performer/relative_squared_error" AS "attention/performer/relative_squared_error[ min]",
  "attention/performer/squared_error" AS "attention/performer/squared_error[]", "dev/accuracy", "test/accuracy"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'performer-kernels' AND listed AND outcome = 'done'
ORDER BY position
