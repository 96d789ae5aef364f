// The report's data: deflated JSON in base64, in columns (db/questions/tables/report_data.h).

async function unpack(packed) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot unpack the report's data: expected Chrome or Edge 80, Firefox 113, Safari 16.4, or later");
  const text = atob(packed), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);  // Uint8Array.from needs a second for 3 MB
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** The report's data. A trial is identified by its index, from 0. */
class Report {
  constructor(data) {
    Object.assign(this, data);
    this.count = data.trials.key.length;
    this.all = d3.range(this.count);
    this.differing = this.parameters.filter((parameter) => parameter.differs);
    this.curvesOf = this.all.map(() => []);
    for (const curves of this.curves)
      curves.trial.forEach((trial, i) => this.curvesOf[trial].push({ curves, steps: curves.steps[curves.of[i]], values: curves.values[i] }));
    this.attemptsOf = new Map();
    for (const attempt of this.attempts) {
      if (!this.attemptsOf.has(attempt[0])) this.attemptsOf.set(attempt[0], []);
      this.attemptsOf.get(attempt[0]).push(attempt);
    }
  }

  /** Returns the index of a trial's value among a parameter's values; -1: the trial has no value. */
  place(parameter, trial) { return parameter.of ? parameter.of[trial] : 0; }
  value(parameter, trial) { return parameter.values[this.place(parameter, trial)]; }
  text(parameter, trial) {
    const value = this.value(parameter, trial);
    return value === undefined ? "-" : String(value);
  }
  /** Returns a number if all of the parameter's values are numbers, else null. */
  number(parameter, trial) {
    const place = this.place(parameter, trial);
    return parameter.numbers && place >= 0 ? parameter.numbers[place] : null;
  }
  measured(metric, trial) {
    const value = metric.values[trial];
    return typeof value === "number" ? value : null;
  }
  outcome(trial) { return this.outcomes[this.trials.outcome[trial]]; }
  reason(trial) { return this.trials.reason[trial] < 0 ? "" : this.reasons[this.trials.reason[trial]]; }
  reasonGroup(trial) { return this.trials.reason[trial] < 0 ? "" : this.reason_groups[this.trials.reason[trial]]; }
  experiment(trial) { return this.experiments[this.trials.experiment[trial]].name; }

  /** Returns one line with the values that distinguish a trial from the others. */
  label(trial) {
    const parts = this.differing.filter((parameter) => this.value(parameter, trial) !== undefined)
      .map((parameter) => `${parameter.path}=${this.text(parameter, trial)}`);
    if (this.experiments.length > 1) parts.unshift(this.experiment(trial));
    return parts.join(" ") || `trial ${this.trials.key[trial]}`;
  }
  /** Returns the main metric: the first metric in a table's headers, else the first score with a direction. */
  mainMetric() {
    const headers = this.tables.flatMap((table) => (table.blocks || []).flatMap((block) => [block.title, ...block.header.map((h) => h.text)]));
    return this.metrics.find((metric) => !metric.cost && headers.includes(withUnit(metric))) ||
      this.metrics.find((metric) => !metric.cost && metric.direction) || this.metrics[0];
  }
  mainCost() { return this.metrics.find((metric) => metric.name === "train/step_time") || this.metrics.find((metric) => metric.cost); }
}

/** Trials that pass all brushes, shared by all figures and lists. */
class Choice {
  constructor(count) {
    this.mask = new Uint8Array(count).fill(1);
    this.count = count;
    this.listeners = [];
  }
  has(trial) { return this.mask[trial] === 1; }
  get isAll() { return this.count === this.mask.length; }
  set(mask) {
    this.mask = mask;
    this.count = d3.sum(mask);
    for (const listener of this.listeners) listener();
  }
}
