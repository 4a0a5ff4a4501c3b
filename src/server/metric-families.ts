// Counters, gauges and histograms, and their text in Prometheus' format (version 0.0.4). Label values are constants of this service or come
// from its settings, so their number is limited.

/** A metric with all its series. */
export interface MetricFamily {
  text(): string;
}

interface MetricDescription {
  /** Ends in the unit, and in `_total` for a counter. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Separates the label values in the key of a series. No value contains it. */
const separator = '\0';

export class Counter implements MetricFamily {
  readonly #description: MetricDescription;
  readonly #series = new Map<string, number>();

  constructor(name: string, help: string, ...labels: readonly string[]) {
    this.#description = { name, help, labels };
  }

  /** `values` are in the order of the labels. */
  add(values: readonly string[], by = 1): void {
    const key = values.join(separator);
    this.#series.set(key, (this.#series.get(key) ?? 0) + by);
  }

  text(): string {
    const { name, labels } = this.#description;
    const lines = Array.from(this.#series, ([key, value]) => sample(name, labels, key, value));
    return head(this.#description, 'counter') + lines.join('');
  }
}

export class Gauge implements MetricFamily {
  readonly #description: MetricDescription;
  readonly #read: () => ReadonlyMap<string, number>;

  /** `read` returns the value of each series; the key is the value of the only label, or empty if there is no label. */
  constructor(name: string, help: string, label: string | null, read: () => ReadonlyMap<string, number>) {
    this.#description = { name, help, labels: label === null ? [] : [label] };
    this.#read = read;
  }

  text(): string {
    const { name, labels } = this.#description;
    const lines = Array.from(this.#read(), ([key, value]) => sample(name, labels, key, value));
    return lines.length === 0 ? '' : head(this.#description, 'gauge') + lines.join('');
  }
}

interface Distribution {
  /** For each bound, the number of values up to it and above the bound before. */
  readonly counts: number[];
  count: number;
  sum: number;
}

export class Histogram implements MetricFamily {
  readonly #description: MetricDescription;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Distribution>();

  /** `bounds`: the upper bounds of the buckets, ascending, in the unit of the metric. */
  constructor(name: string, help: string, bounds: readonly number[], ...labels: readonly string[]) {
    this.#description = { name, help, labels };
    this.#bounds = bounds;
  }

  observe(values: readonly string[], value: number): void {
    const key = values.join(separator);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { counts: this.#bounds.map(() => 0), count: 0, sum: 0 };
      this.#series.set(key, series);
    }
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.count += 1;
    series.sum += value;
  }

  text(): string {
    const { name, labels } = this.#description;
    const withBound = [...labels, 'le'];
    const lines = Array.from(this.#series, ([key, { counts, count, sum }]) => {
      const keyWith = (bound: string) => (labels.length === 0 ? bound : key + separator + bound);
      let cumulative = 0;
      const buckets = this.#bounds.map((bound, at) => {
        cumulative += counts[at] ?? 0;
        return sample(`${name}_bucket`, withBound, keyWith(String(bound)), cumulative);
      });
      return [
        ...buckets,
        sample(`${name}_bucket`, withBound, keyWith('+Inf'), count),
        sample(`${name}_sum`, labels, key, sum),
        sample(`${name}_count`, labels, key, count),
      ].join('');
    });
    return head(this.#description, 'histogram') + lines.join('');
  }
}

function head({ name, help }: MetricDescription, type: string): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
}

function sample(name: string, labels: readonly string[], key: string, value: number): string {
  const values = key.split(separator);
  const pairs = labels.map((label, at) => `${label}="${escapeLabel(values[at] ?? '')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
