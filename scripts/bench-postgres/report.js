// The lines of the report: each a figure with its aim, and the two plain values that it is made of.
import { describeMachine, quantile } from '../measure.js';

/** `least` or `most`: the aim of the median. `floor`: what the plain value is compared with. */
export function line(name, { unit, floor, ...aim }) {
  const figures = [];
  const plain = [];
  const floors = [];
  return {
    add(figure, value, ofFloor = 0) {
      figures.push(figure);
      plain.push(value);
      floors.push(ofFloor);
    },
    /** A rate or a time against its floor. */
    compare(value, ofFloor) {
      this.add(value / ofFloor, value, ofFloor);
    },
    row: () => ({
      name,
      median: quantile(figures, 0.5),
      quarter: quantile(figures, 0.25),
      threeQuarters: quantile(figures, 0.75),
      plain: quantile(plain, 0.5),
      floor: floor === undefined ? null : { name: floor, value: quantile(floors, 0.5) },
      unit,
      ...aim,
    }),
  };
}

export function describe(report) {
  const { database, load, rounds } = report;
  const lines = [
    `PostgreSQL ${database}, fsync and synchronous_commit on; load of the machine ${load.before} before, ${load.after} after`,
    ...describeMachine(report.machine, rounds),
    `${'case'.padEnd(44)}  median  middle half         aim  plain, and its floor`,
  ];
  for (const { name, median, quarter, threeQuarters, plain, floor, unit, least, most } of report.cases) {
    const aim = least === undefined ? `<= ${most}` : `>= ${least}`;
    const digits = Math.max(median, threeQuarters) >= 1000 ? 0 : 2;
    const half = `${quarter.toFixed(digits)}-${threeQuarters.toFixed(digits)}`;
    const value = (number) => `${number.toFixed(number < 100 ? 2 : 0)} ${unit}`;
    const beside = floor === null ? '' : `, ${floor.name} ${value(floor.value)}`;
    const cells = [name.padEnd(44), median.toFixed(digits).padStart(6), half.padStart(12), aim.padStart(10)];
    lines.push(`${cells.join('  ')}  ${value(plain)}${beside}`);
  }
  return `${lines.join('\n')}\n`;
}
