// The layout of usage on terminals of every width: as many columns as fit, and no number cut.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, it } from 'vitest';
import { columnsThatFit, usageLines } from '../../../src/cli/commands/usage/usage-layout.ts';
import { align } from '../../../src/cli/terminal/table.ts';
import type { UsageQuery, UsageRecord } from '../../../src/service/administration.ts';

const groups = {
  mode: 'a-mode-with-a-name-of-forty-characters-x',
  session: 'ses_01m80xf6fzgk6vxeydm08qerq2',
  day: '2026-11-22',
} as const satisfies Record<UsageQuery['by'], string>;

function shown(by: UsageQuery['by'], records: readonly UsageRecord[], available: number): readonly string[] {
  const columns = columnsThatFit(by, records, available);
  if (columns === null) return records.flatMap(usageLines);
  const cells = records.map((record) => columns.map(({ value }) => value(record)));
  return align(columns, cells, available, stringWidth);
}

const usage = (group: string, tokens = 4321, uncounted = 0): UsageRecord => ({
  ...{ group, turns: 12, failed: 1, input_tokens: tokens, output_tokens: 98, first_token_ms: 250, uncounted },
});

it.each([
  ['mode', 40, false, 0],
  ['mode', 60, true, 0],
  ['mode', 80, true, 8],
  ['mode', 200, true, 40],
  ['session', 60, false, 0],
  ['session', 80, true, 4],
  ['day', 40, false, 0],
  ['day', 80, true, 24],
] as const)('by %s in %i cells (a table: %s) the longest bar has %i', (by, available, isTable, cells) => {
  const lines = shown(by, [usage(groups[by])], available);
  expect(lines[0]?.startsWith(by.toUpperCase())).toBe(isTable);
  expect(/█*$/.exec(lines.at(-1) ?? '')?.[0]).toHaveLength(cells);
});

it('no line is wider than the terminal, and no number is cut', () => {
  const by = fc.constantFrom('mode', 'session', 'day');
  const tokens = fc.array(fc.nat({ max: 1e9 }), { minLength: 1, maxLength: 5 });
  const uncounted = fc.constantFrom(0, 11);
  fc.assert(
    fc.property(
      by,
      tokens,
      uncounted,
      fc.integer({ min: 40, max: 250 }),
      (group, counts, without, available) => {
        const records = counts.map((count) => usage(groups[group], count, without));
        const lines = shown(group, records, available);
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(available);
        for (const count of counts) expect(lines.join('\n')).toMatch(new RegExp(`\\b${count}\\b`));
      },
    ),
  );
});

it('turns without a token count are noted beside the sums that lack them, and sums without any count are empty', () => {
  const narrow = (uncounted: number) => shown('mode', [usage('m', 5, uncounted)], 40).slice(2, 4);
  expect(narrow(3)).toEqual(['  tokens: 5 in, 98 out', '  3 of the turns not counted']);
  expect(narrow(0)).toEqual(['  tokens: 5 in, 98 out', '  first token: 250 ms']);
  expect(narrow(12)).toEqual(['  tokens: not counted', '  first token: 250 ms']);
  const [title, row] = shown('day', [usage('2026-11-22', 5, 3)], 100);
  expect(title).toMatch(/FIRST TOKEN +UNCOUNTED/);
  expect(row).toMatch(/ 5 +98 +250 ms +3 /);
  expect(shown('day', [usage('2026-11-22', 0, 12)], 100)[1]).toMatch(/ - +- +250 ms/);
});
