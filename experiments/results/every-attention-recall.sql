SELECT experiment, "environment.git", key, seed,
  attention, "attention.compression", "attention.convolution", "model.layers", "task.test" AS "test/examples[examples]", "model/parameters",
  "dev/accuracy", "test/accuracy", "test/accuracy@pairs=2", "test/accuracy@pairs=4", "test/accuracy@pairs=8", "train/step_cpu_time", "memory/peak_tensor"
FROM trials JOIN members USING (trial) JOIN (SELECT attempt, environment ->> '$.git' AS "commit" FROM attempts) USING (attempt)
WHERE experiment = 'every-attention-recall' AND listed AND outcome = 'done'
ORDER BY position
