// The lines of the report: each a figure with its aim, and the two values from which it is computed.
import { describeMachine, quantile, samples } from '../measure.js';

/** `least` or `most`: the aim of the median. `floor`: the value that the plain value is compared with. */
export function line(name, { unit, floor, ...aim }) {
  const measured = samples(name, unit, aim);
  const floors = [];
  return {
    add(figure, value, ofFloor = 0) {
      measured.add(figure, value);
      floors.push(ofFloor);
    },
    /** A rate or a time against its floor. */
    compare(value, ofFloor) {
      this.add(value / ofFloor, value, ofFloor);
    },
    row: () => ({
      ...measured.row(),
      floor: floor === undefined ? null : { name: floor, value: quantile(floors, 0.5) },
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
  for (const { name, median, quarter, threeQuarters, plain, floor, unit, min, max } of report.cases) {
    const aim = min === undefined ? `<= ${max}` : `>= ${min}`;
    const digits = Math.max(median, threeQuarters) >= 1000 ? 0 : 2;
    const half = `${quarter.toFixed(digits)}-${threeQuarters.toFixed(digits)}`;
    const value = (number) => `${number.toFixed(number < 100 ? 2 : 0)} ${unit}`;
    const beside = floor === null ? '' : `, ${floor.name} ${value(floor.value)}`;
    const cells = [name.padEnd(44), median.toFixed(digits).padStart(6), half.padStart(12), aim.padStart(10)];
    lines.push(`${cells.join('  ')}  ${value(plain)}${beside}`);
  }
  return `${lines.join('\n')}\n`;
}
