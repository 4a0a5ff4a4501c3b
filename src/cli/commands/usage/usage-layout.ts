// How usage is shown in so many cells of a terminal: as a table with bars; without them where they have no room; and where a table would be
// cut, line by line. No figure is ever cut off.
import type { UsageQuery, UsageRecord } from '../../../service/administration.ts';
import { counted } from '../../counted.ts';
import type { Column } from '../../terminal/table.ts';

const gap = 2;
const narrowestName = 8;
const enoughName = 20;
const mostBarCells = 40;
const shortBarCells = 8;
const leastBarCells = 4;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export function usageColumns(by: UsageQuery['by']): readonly Column<UsageRecord>[] {
  return [
    { title: by.toUpperCase(), value: ({ group }) => group, flexible: by === 'mode' },
    { title: 'TURNS', value: ({ turns }) => String(turns) },
    { title: 'FAILED', value: ({ failed }) => String(failed) },
    { title: 'TOKENS IN', value: ({ input_tokens }) => String(input_tokens) },
    { title: 'OUT', value: ({ output_tokens }) => String(output_tokens) },
    { title: 'FIRST TOKEN', value: firstToken },
  ];
}

/** Null where a table would be too wide. */
export function fittedColumns(
  by: UsageQuery['by'],
  records: readonly UsageRecord[],
  available: number,
): readonly Column<UsageRecord>[] | null {
  const columns = usageColumns(by);
  const widths = columns.map(({ title, value }) =>
    Math.max(title.length, ...records.map((record) => value(record).length)),
  );
  const width = widths.reduce((sum, one) => sum + one + gap, -gap);
  const name = widths[0] ?? 0;
  const least = by === 'mode' ? width - Math.max(0, name - narrowestName) : width;
  if (least > available) return null;
  // A long name gives way to a short bar, down to so many cells.
  const spare = by === 'mode' ? Math.max(0, name - enoughName) : 0;
  const free = available - width - gap;
  const room = Math.min(Math.max(free, Math.min(free + spare, shortBarCells)), mostBarCells);
  return room < leastBarCells ? columns : [...columns, barColumn(records, room)];
}

/** What `fittedColumns` has no table for. */
export function usageLines(record: UsageRecord): readonly string[] {
  const { group, turns, failed, input_tokens, output_tokens } = record;
  const first = firstToken(record);
  return [
    group,
    `  ${counted(turns, 'turn')}, ${failed} failed`,
    `  tokens: ${input_tokens} in, ${output_tokens} out`,
    ...(first === '' ? [] : [`  first token: ${first}`]),
  ];
}

function firstToken({ first_token_ms: ms }: UsageRecord): string {
  return ms === null ? '' : `${ms} ms`;
}

/** The tokens of each row beside those of the largest; where no engine counts, the turns. */
function barColumn(records: readonly UsageRecord[], cells: number): Column<UsageRecord> {
  const tokens = ({ input_tokens, output_tokens }: UsageRecord) => input_tokens + output_tokens;
  const counts = records.some((record) => tokens(record) > 0);
  const size = counts ? tokens : ({ turns }: UsageRecord) => turns;
  const largest = Math.max(1, ...records.map(size));
  const title = counts ? 'TOKENS' : 'SHARE OF TURNS';
  return {
    title: title.length > cells ? '' : title,
    value(record) {
      const length = Math.round((size(record) / largest) * cells * 8);
      return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
    },
  };
}
