SELECT experiment, "environment.git", key, seed,
  "task.kind", attention, "attention.compression", "attention.convolution", "model.layers", "task.test" AS "test/examples[examples]", "model/parameters",
  "dev/accuracy", "test/accuracy", "train/step_cpu_time"
FROM trials JOIN members USING (trial) JOIN (SELECT attempt, environment ->> '$.git' AS "commit" FROM attempts) USING (attempt)
WHERE experiment = 'every-attention-mad' AND listed AND outcome = 'done'
ORDER BY position
