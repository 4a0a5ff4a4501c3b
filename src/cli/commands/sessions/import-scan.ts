// `parley sessions import --scan`: finds the conversations of other programs on this machine. It reads names, sizes and times of files only.
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../../service/errors.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { exitDone } from '../../exit-codes.ts';
import { validTime } from '../../imports/foreign-value.ts';
import { importLimits } from '../../imports/import-limits.ts';
import type { ConversationPlace } from '../../imports/source.ts';
import { sources } from '../../imports/source-table.ts';
import { timesIn } from '../../shown-time.ts';
import { successLine } from '../../terminal/json.ts';
import { type Column, writeTable } from '../../terminal/table.ts';

interface ScanRow {
  readonly source: string;
  readonly path: string;
  /** Files that hold conversations. */
  readonly files: number;
  readonly bytes: number;
  /** When the oldest and the newest of them were last written. ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
  /** When the program deletes the next unused file, and how many it deletes within a week; null and 0 if it keeps them. */
  readonly expires_at: string | null;
  readonly expiring: number;
}

const dayMs = 24 * 60 * 60 * 1000;

const columnsOf = (
  time: (time: string) => string,
  shownPath: (path: string) => string,
): readonly Column<ScanRow>[] => [
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'FILES', value: ({ files }) => String(files) },
  { title: 'BYTES', value: ({ bytes }) => String(bytes), omittedWhen: 'narrow' },
  { title: 'OLDEST', value: ({ oldest }) => time(oldest), omittedWhen: 'narrow' },
  { title: 'NEWEST', value: ({ newest }) => time(newest) },
  {
    title: 'NEXT DELETED',
    value: ({ expires_at }) => (expires_at === null ? '' : time(expires_at)),
    omittedWhen: 'empty',
  },
  {
    title: 'WITHIN A WEEK',
    value: ({ expiring }) => (expiring === 0 ? '' : String(expiring)),
    omittedWhen: 'empty',
  },
  { title: 'PATH', value: ({ path }) => shownPath(path), flexible: true },
];

export async function scanMachine(paths: readonly string[], context: CliContext): Promise<number> {
  if (paths.length > 0) {
    throw new ParleyError('USAGE', '--scan looks in the usual places of each program, and takes no path.', {
      hint: 'Nothing was done. Remove the path, or use --dry-run PATH to see what it contains.',
    });
  }
  const { env, now } = context.host;
  const machine = { home: env['HOME'] ?? homedir(), env };
  const rows: ScanRow[] = [];
  for (const source of sources) {
    for (const place of source.places?.(machine) ?? []) {
      const row = rowOf(source.name, place, now());
      if (row !== null) rows.push(row);
    }
  }
  const { stdout } = context;
  const pathText = (path: string) => (stdout.isTerminal ? homePath(path, machine.home) : path);
  if (context.options.json) await stdout.write(successLine(rows));
  else await writeTable(stdout, columnsOf(timesIn(stdout, now()), pathText), rows);
  if (rows.length === 0) await context.say('No conversations of other programs were found on this machine.');
  else {
    const places = [...new Set(rows.map(({ path }) => pathText(quoteForShell(path))))];
    await context.say(`To import them: parley sessions import ${places.join(' ')}`);
  }
  return exitDone;
}

/** The path with `~` for the home directory. A quoted path stays as it is, because a shell does not expand `~` there. */
function homePath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function rowOf(source: string, { path, pattern, keptDays }: ConversationPlace, now: number): ScanRow | null {
  const times: number[] = [];
  let bytes = 0;
  for (const file of filesBelow(path, 0)) {
    if (!pattern.test(file.path)) continue;
    times.push(file.time);
    bytes += file.bytes;
  }
  if (times.length === 0) return null;
  const [oldest, newest] = times.reduce(
    ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
    [Infinity, 0],
  );
  const ends = keptDays === null ? [] : times.map((time) => time + keptDays * dayMs);
  return {
    source,
    path,
    files: times.length,
    bytes,
    oldest: new Date(oldest).toISOString(),
    newest: new Date(newest).toISOString(),
    expires_at: keptDays === null ? null : new Date(oldest + keptDays * dayMs).toISOString(),
    expiring: ends.filter((end) => end < now + 7 * dayMs).length,
  };
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The file itself, or the files below a directory. Skips what cannot be read, and does not follow links. */
function* filesBelow(path: string, depth: number): Generator<{ path: string; bytes: number; time: number }> {
  const status = statusOf(path);
  // A file system can store times that no date has. Such a file counts as the oldest.
  if (status?.isFile()) yield { path, bytes: status.size, time: validTime(status.mtimeMs) ?? 0 };
  if (!status?.isDirectory() || depth > importLimits.directories) return;
  let names: readonly string[];
  try {
    names = readdirSync(path);
  } catch {
    return;
  }
  for (const name of names) yield* filesBelow(join(path, name), depth + 1);
}
