SELECT experiment, "environment.git", key, data_digest, seed, task, "task.kind", "task.asked", "task.shortest", "task.longest",
  "task.test_shortest", "task.test_longest", "task.train", "task.dev", "task.test", "train.steps", "train.batch", "train.learning_rate",
  "model.positions", attention,
  CASE "attention.negative_eigenvalues" WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS "attention.negative_eigenvalues",
  "attention.householder_steps", "task.test" AS "test/examples[examples]", "model/parameters", "dev/accuracy", "test/accuracy",
  "test/accuracy@length=40", "test/accuracy@length=80",
  "test/accuracy@length=160", "train/step_time", "train/step_cpu_time",
  "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (
  SELECT attempt, environment ->> '$.git' AS "environment.git", coalesce((
    SELECT json ->> '$.data' FROM key_part JOIN basis ON basis.id = basis WHERE key_part.trial = attempts.trial),
    environment ->> '$.data_digest') AS data_digest FROM attempts) USING (attempt)
WHERE experiment = 'state-tracking' AND listed AND outcome = 'done'
ORDER BY position
