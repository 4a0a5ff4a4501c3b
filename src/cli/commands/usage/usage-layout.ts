// The layout of usage for the width of a terminal: a table with bars, a table without bars if they do not fit, or lines if no table fits.
// Numbers are never cut.
import type { UsageQuery, UsageRecord } from '../../../service/administration.ts';
import { counted } from '../../counted.ts';
import type { Column } from '../../terminal/table.ts';

const gap = 2;
const minNameColumns = 8;
const comfortableNameColumns = 20;
const maxBarCells = 40;
const shortBarCells = 8;
const minBarCells = 4;
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export function usageColumns(by: UsageQuery['by']): readonly Column<UsageRecord>[] {
  return [
    { title: by.toUpperCase(), value: ({ group }) => group, flexible: by === 'mode' },
    { title: 'TURNS', value: ({ turns }) => String(turns) },
    { title: 'FAILED', value: ({ failed }) => String(failed) },
    { title: 'TOKENS IN', value: (record) => tokens(record, record.input_tokens) },
    { title: 'OUT', value: (record) => tokens(record, record.output_tokens) },
    { title: 'FIRST TOKEN', value: firstToken },
    { title: 'UNCOUNTED', value: ({ uncounted }) => String(uncounted) },
  ];
}

/** Null if a table would be too wide. */
export function columnsThatFit(
  by: UsageQuery['by'],
  records: readonly UsageRecord[],
  available: number,
): readonly Column<UsageRecord>[] | null {
  // UNCOUNTED is shown only if a row has both counted and uncounted turns: a row without counts has dashes. This leaves more room for bars.
  const isPart = records.some(({ turns, uncounted }) => uncounted > 0 && uncounted < turns);
  const columns = usageColumns(by).filter(({ title }) => isPart || title !== 'UNCOUNTED');
  const widths = columns.map(({ title, value }) =>
    Math.max(title.length, ...records.map((record) => value(record).length)),
  );
  const width = widths.reduce((sum, one) => sum + one + gap, -gap);
  const nameWidth = widths[0] ?? 0;
  const minWidth = by === 'mode' ? width - Math.max(0, nameWidth - minNameColumns) : width;
  if (minWidth > available) return null;
  // A long name is cut to make room for a short bar, but keeps at least `comfortableNameColumns` cells.
  const cuttable = by === 'mode' ? Math.max(0, nameWidth - comfortableNameColumns) : 0;
  const free = available - width - gap;
  const room = Math.min(Math.max(free, Math.min(free + cuttable, shortBarCells)), maxBarCells);
  return room < minBarCells ? columns : [...columns, barColumn(records, room)];
}

/** The lines of a record for a terminal that is too narrow for a table. */
export function usageLines(record: UsageRecord): readonly string[] {
  const { group, turns, failed, input_tokens, output_tokens, uncounted } = record;
  const first = firstToken(record);
  const isCounted = uncounted < turns;
  return [
    group,
    `  ${counted(turns, 'turn')}, ${failed} failed`,
    `  tokens: ${isCounted ? `${input_tokens} in, ${output_tokens} out` : 'not counted'}`,
    ...(isCounted && uncounted > 0 ? [`  ${uncounted} of the turns not counted`] : []),
    ...(first === '' ? [] : [`  first token: ${first}`]),
  ];
}

/** A dash if no tokens were counted, which is not the same as zero. */
function tokens({ turns, uncounted }: UsageRecord, sum: number): string {
  return uncounted === turns ? '-' : String(sum);
}

function firstToken({ first_token_ms: ms }: UsageRecord): string {
  return ms === null ? '' : `${ms} ms`;
}

/** A bar for the tokens of each row, relative to the largest row, or for the turns if no tokens were counted. */
function barColumn(records: readonly UsageRecord[], cells: number): Column<UsageRecord> {
  const sum = ({ input_tokens, output_tokens }: UsageRecord) => input_tokens + output_tokens;
  const counts = records.some((record) => sum(record) > 0);
  const size = counts ? sum : ({ turns }: UsageRecord) => turns;
  const largest = Math.max(1, ...records.map(size));
  const title = counts ? 'BY TOKENS' : 'BY TURNS';
  return {
    title: title.length > cells ? '' : title,
    value(record) {
      const length = Math.round((size(record) / largest) * cells * 8);
      return '█'.repeat(Math.floor(length / 8)) + (eighths[length % 8] ?? '');
    },
  };
}
