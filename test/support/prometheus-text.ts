// Parses Prometheus' text format 0.0.4, and reports violations of its grammar and of the rules of `promtool check metrics`
// (https://prometheus.io/docs/instrumenting/exposition_formats, client_golang/prometheus/testutil/promlint).

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly hasHelp: boolean;
  readonly samples: Sample[];
}

export interface PrometheusText {
  readonly families: readonly Family[];
  readonly samples: readonly Sample[];
  /** Empty for a text that Prometheus takes and promtool has nothing to say about. */
  readonly faults: readonly string[];
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const number = '[+-]?(?:\\d+(?:\\.\\d*)?(?:[eE][+-]?\\d+)?|\\.\\d+(?:[eE][+-]?\\d+)?|Inf|NaN)';
const sampleLine = new RegExp(`^(${metricName})(?:\\{((?:${label}(?:,${label})*,?)?)\\})? (${number})$`);
const helpLine = new RegExp(`^# HELP (${metricName}) (\\S(?:[^\\\\]|\\\\[\\\\n])*)$`);
const typeLine = new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram|summary|untyped)$`);
/** Units that are no base units, and abbreviations. */
const wrongUnits =
  /_(milliseconds|microseconds|nanoseconds|minutes|hours|days|weeks|kilobytes|megabytes|gigabytes|bits|percent|ms|us|ns|s|sec|b|kb|mb|gb|m|h|d)(_|$)/;

export function readPrometheus(text: string): PrometheusText {
  const faults: string[] = [];
  const families: Family[] = [];
  let help: string | null = null;
  if (!text.endsWith('\n')) faults.push('the last line has no end');
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, helped] = helpLine.exec(line) ?? [];
    const [, typed, type] = typeLine.exec(line) ?? [];
    const sample = sampleLine.exec(line);
    if (helped !== undefined) {
      if (families.some(({ name }) => name === helped)) faults.push(`${helped}: a second help`);
      help = helped;
    } else if (typed !== undefined && type !== undefined) {
      if (families.some(({ name }) => name === typed)) faults.push(`${typed}: a second type`);
      families.push({ name: typed, type, hasHelp: help === typed, samples: [] });
    } else if (sample !== null) {
      const [, name = '', pairs = '', value = ''] = sample;
      const family = families.at(-1);
      if (family === undefined || !isOf(name, family)) faults.push(`${name}: stands outside of its metric`);
      else family.samples.push({ name, labels: labelsOf(pairs, faults), value: numberOf(value) });
    } else if (!/^#(?! (HELP|TYPE) )/.test(line) && line !== '')
      faults.push(`no line of the format: ${line}`);
  }
  for (const family of families) faults.push(...lintOf(family), ...histogramFaults(family));
  return { families, samples: families.flatMap(({ samples }) => samples), faults };
}

function isOf(name: string, { name: of, type }: Family): boolean {
  const parts = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }[type] ?? [''];
  return parts.some((part) => name === of + part);
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}

function labelsOf(pairs: string, faults: string[]): Sample['labels'] {
  const labels: Record<string, string> = {};
  for (const [, name = '', value = ''] of pairs.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)) {
    if (Object.hasOwn(labels, name)) faults.push(`the label ${name} stands twice in ${pairs}`);
    labels[name] = value;
  }
  return labels;
}

function lintOf({ name, type, hasHelp, samples }: Family): readonly string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [!hasHelp, 'has no help before its type'],
    [type === 'untyped', 'has no type'],
    [type === 'counter' && !name.endsWith('_total'), 'is a counter without "_total"'],
    [type !== 'counter' && name.endsWith('_total'), 'ends in "_total" and is no counter'],
    [/_(bucket|sum|count)$/.test(name), 'ends as a part of a histogram'],
    [wrongUnits.test(name), 'has a unit that is no base unit'],
    [/_(counter|gauge|histogram|summary)(_|$)/.test(name), 'names its type'],
    [/[A-Z:]/.test(name), 'has a colon or a capital'],
    [type === 'counter' && samples.some(({ value }) => !(value >= 0)), 'is a counter below 0'],
    [type !== 'histogram' && samples.some(({ labels }) => 'le' in labels), 'has "le" and is no histogram'],
    [
      samples.some(({ labels }) => Object.keys(labels).some((key) => /^__|[A-Z]/.test(key))),
      'has a wrong label',
    ],
    [new Set(samples.map(seriesOf)).size < samples.length, 'has a series twice'],
  ];
  return rules.flatMap(([isBroken, what]) => (isBroken ? [`${name}: ${what}`] : []));
}

function seriesOf({ name, labels }: Sample): string {
  return JSON.stringify([name, Object.entries(labels).sort()]);
}

/** Buckets are cumulative, end in +Inf, and agree with the count. */
function histogramFaults({ name, type, samples }: Family): readonly string[] {
  if (type !== 'histogram') return [];
  const faults: string[] = [];
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels;
    const group = JSON.stringify(Object.entries(others).sort());
    groups.set(group, [...(groups.get(group) ?? []), sample]);
  }
  for (const [group, all] of groups) {
    const buckets = all.filter((one) => one.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => numberOf(labels['le'] ?? 'NaN'));
    const isRising = (values: readonly number[], least: number) =>
      values.every((value, index) => index === 0 || value - (values[index - 1] ?? 0) >= least);
    const count = all.find((one) => one.name === `${name}_count`)?.value;
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY)
      faults.push(`${name} ${group}: has no bucket +Inf at its end`);
    if (!isRising(bounds, Number.MIN_VALUE)) faults.push(`${name} ${group}: bounds are not in order`);
    if (
      !isRising(
        buckets.map(({ value }) => value),
        0,
      )
    )
      faults.push(`${name} ${group}: is not cumulative`);
    if (count === undefined || count !== buckets.at(-1)?.value)
      faults.push(`${name} ${group}: the count differs`);
    if (!all.some((one) => one.name === `${name}_sum`)) faults.push(`${name} ${group}: has no sum`);
  }
  return faults;
}
