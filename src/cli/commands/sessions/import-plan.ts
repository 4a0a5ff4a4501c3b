// The plan of an import: what it reads, what it skips, and the journal of the sessions that it creates.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError } from '../../../service/errors.ts';
import { fileFailure } from '../../../system/file-failure.ts';
import { type PointInTime, timeOf } from '../../age.ts';
import type { CliContext } from '../../context.ts';
import type { ImportItem } from '../../imports/import-item.ts';
import type { FoundFile, SourceName } from '../../imports/source.ts';
import { filesAt } from '../../imports/source-files.ts';
import {
  ImportJournal,
  type ImportRequest,
  readImport,
  requireOwner,
} from '../../session-batch/import-journal.ts';
import { stdinBytes } from '../../terminal/stdin.ts';
import { batchOwner } from './batch.ts';
import { ImportCreations } from './import-creations.ts';
import { requireTags } from './required-tags.ts';

export interface ImportFlags {
  /** Without it, each file is recognised. */
  readonly from?: ImportedSource;
  /** Compared with the time of the last message. */
  readonly since?: PointInTime;
  /** A glob over titles. */
  readonly match?: string;
  readonly messagesOnly?: boolean;
  /** The tags of imported sessions. Sessions that exist already keep their own. */
  readonly tag?: readonly string[];
  readonly dryRun?: true;
  /** Only looks for conversations of other programs on this machine. */
  readonly scan?: true;
  /** The import to resume instead of paths. */
  readonly resume?: string;
  /** Prints a result line for each session, even at a terminal. */
  readonly verbose?: true;
}

type ImportedSource = SourceName | 'parley';

export interface ImportPlan {
  readonly from: ImportedSource | null;
  /** True if there are several paths. */
  readonly hasSeveral: boolean;
  /** ISO 8601; null for every time. */
  readonly since: string | null;
  readonly match: RegExp | null;
  readonly messagesOnly: boolean;
  readonly tags: readonly string[];
  readonly dryRun: boolean;
  readonly verbose: boolean;
  /** The bytes to read; null if that is not known. */
  readonly bytes: number | null;
  files(signal: AbortSignal): AsyncIterable<FoundFile>;
  readonly creations: ImportCreations;
  temporaryDirectory(): string;
  close(): void;
}

/** `given` are files, directories and archives; or `-` for stdin. */
export async function planImport(
  given: readonly string[],
  flags: ImportFlags,
  context: CliContext,
): Promise<ImportPlan> {
  const { dataDirectory } = context.host;
  const { resume, dryRun = false, verbose = false } = flags;
  const request =
    resume === undefined
      ? requestOf(given, flags, context)
      : await requestToResume(resume, given, flags, context);
  const { paths, from, since, match, messages_only, tags = [] } = request;
  await requireTags(tags, context);
  const journal = resume === undefined ? null : await ImportJournal.open(dataDirectory, resume, context.host);
  const creations = new ImportCreations({ request, journal, isDryRun: dryRun }, context);
  let directory: string | null = null;
  return {
    from: from as ImportPlan['from'],
    hasSeveral: paths.length > 1,
    since,
    messagesOnly: messages_only,
    tags,
    match: match === null ? null : globPattern(match),
    dryRun,
    verbose,
    bytes: bytesOf(paths),
    files: (signal) => everyFile(paths, signal, context),
    creations,
    temporaryDirectory() {
      try {
        directory ??= mkdtempSync(join(tmpdir(), 'parley-import-'));
        return directory;
      } catch (error) {
        throw fileFailure(error, tmpdir(), 'written', 'Set TMPDIR to a directory that you may write to.');
      }
    },
    close() {
      creations.close();
      if (directory !== null) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** True if the options include the item. Items that could not be read are always included. */
export function isIncluded({ found }: ImportItem, { since, match }: ImportPlan): boolean {
  if (!('session' in found)) return true;
  const { updated_at, title } = found.session.record?.session ?? {};
  if (since !== null && typeof updated_at === 'string' && updated_at < since) return false;
  return match === null || match.test(title ?? '');
}

function requestOf(
  paths: readonly string[],
  { from, since, match, messagesOnly = false, tag }: ImportFlags,
  { host }: CliContext,
): ImportRequest {
  if (paths.length === 0) {
    throw new ParleyError('USAGE', 'No path was given.', {
      hint: 'Name files, directories or archives, or - for stdin. To find conversations of other programs: parley sessions import --scan',
    });
  }
  const request = {
    paths,
    from: from ?? null,
    since: since === undefined ? null : timeOf(since, host.now()),
    match: match ?? null,
    messages_only: messagesOnly,
  };
  return tag === undefined ? request : { ...request, tags: tag };
}

async function requestToResume(
  batch: string,
  paths: readonly string[],
  { dryRun, from, since, match, messagesOnly, tag }: ImportFlags,
  context: CliContext,
): Promise<ImportRequest> {
  if (
    paths.length > 0 ||
    dryRun ||
    [from, since, match, messagesOnly, tag].some((option) => option !== undefined)
  ) {
    throw new ParleyError(
      'USAGE',
      '--resume cannot be combined with paths or other options: the import has its own.',
      {
        hint: 'Nothing was done. Use --resume BATCH alone.',
      },
    );
  }
  const { seal } = readImport(context.host.dataDirectory, batch);
  requireOwner(seal, (await batchOwner(context)).owner);
  return { ...seal };
}

/** A path that cannot be read does not stop the import of the others. */
async function* everyFile(
  paths: readonly string[],
  signal: AbortSignal,
  context: CliContext,
): AsyncGenerator<FoundFile, void> {
  for (const path of paths) {
    try {
      if (path === '-') yield { file: standardInput(signal, context), isNamed: true };
      else yield* filesAt(path);
    } catch (failure) {
      if (paths.length === 1 || !(failure instanceof ParleyError)) throw failure;
      yield { path, failure };
    }
  }
}

function standardInput(signal: AbortSignal, context: CliContext) {
  const reading = context.reading('exported sessions', 'a file may be named instead');
  return {
    path: '-',
    bytes: 0,
    modified: null,
    local: null,
    place: null,
    open: () => stdinBytes({ ...reading, signal: AbortSignal.any([reading.signal, signal]) }),
  };
}

/** The total size; null if a directory, an archive or a pipe is among the paths, whose size says little about what is read. */
function bytesOf(paths: readonly string[]): number | null {
  let bytes = 0;
  for (const path of paths) {
    const status = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!status?.isFile() || path.endsWith('.zip')) return null;
    bytes += status.size;
  }
  return bytes;
}

/** Matches whole titles, with the syntax of the service: `*` is any characters, `?` any one, `[a-z]` one of a set. */
function globPattern(glob: string): RegExp {
  const parts = glob.match(/\*+|\?|\[[^\]]+\]|[^*?[]+|\[/gu) ?? [];
  const pattern = parts.map((part) => {
    if (part.startsWith('*')) return '.*';
    if (part === '?') return '.';
    if (part.length > 2 && part.startsWith('['))
      return `[${part.startsWith('[^') ? '^' : ''}${part.slice(part.startsWith('[^') ? 2 : 1, -1).replace(/[\\[\]^]/g, '\\$&')}]`;
    return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  });
  try {
    return new RegExp(`^${pattern.join('')}$`, 'su');
  } catch (cause) {
    throw new ParleyError('USAGE', `${glob} is not a valid glob.`, { hint: 'Nothing was done.', cause });
  }
}
