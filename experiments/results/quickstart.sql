SELECT experiment, "environment.git", key, seed,
  attention, "attention.compression", "attention.rates", "attention.rate", "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters",
  "test/accuracy", "train/step_time", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (SELECT attempt, environment ->> '$.git' AS "commit" FROM attempts) USING (attempt)
WHERE experiment = 'quickstart' AND listed AND outcome = 'done'
ORDER BY position
