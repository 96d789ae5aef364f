SELECT experiment, "environment.git", key, seed,
  attention, "attention.compression", "model.causal", "model.layers", "train.test_batches" * "train.batch" AS "test/examples[examples]", "model/parameters",
  "test/accuracy", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (SELECT attempt, environment ->> '$.git' AS "commit" FROM attempts) USING (attempt)
WHERE experiment = 'every-attention' AND listed AND outcome = 'done'
ORDER BY position
