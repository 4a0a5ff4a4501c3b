// `parley sessions export`: writes whole sessions as Markdown, as JSON for sessions import, or as HTML.
import { type Command, Option } from 'commander';
import { type ErrorCode, ParleyError } from '../../../service/errors.ts';
import type { SessionRecord } from '../../../service/session-archive.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import type { CliContext, ServiceAccess } from '../../context.ts';
import { counted } from '../../counted.ts';
import { asParleyError } from '../../error-report.ts';
import type { Run } from '../../run.ts';
import type { Redaction } from '../../secrets/redacted-record.ts';
import { someSessions } from '../../session-argument.ts';
import { missingSession } from '../../session-reference.ts';
import { type ExportFormat, formatOfFile } from '../../transcripts/export-format.ts';
import { prefetchedSessions } from '../../transcripts/prefetched-sessions.ts';
import { ExportReport } from './export-report.ts';
import { areOnStdin, readGivenIds } from './ids.ts';
import { archivedNotice, matchingIds } from './matching.ts';
import { addFilterOptions, type FilterChoice, type FilterFlags, filterOf } from './session-filter.ts';

/** The failures that affect one session only. */
const skippableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SESSION_NOT_FOUND',
  'SESSION_BUSY',
  'PAYLOAD_TOO_LARGE',
  'BAD_RESPONSE',
  'INTERNAL_ERROR',
]);

interface ExportFlags extends FilterFlags {
  /** Without it: JSON with `--json` to stdout, else the format of the file's extension, else Markdown. */
  readonly format?: ExportFormat;
  /** A file, or a directory for one file a session; without it, or with `-`, stdout. */
  readonly output?: string;
  readonly force?: boolean;
  /** Replaces each secret with a mark. */
  readonly redact?: true;
  readonly verbose?: boolean;
}

export function registerExport(parent: Command, run: Run): void {
  const command = parent
    .command('export')
    .description('export whole sessions, to read, archive or import elsewhere')
    .argument('[id...]', someSessions);
  addFilterOptions(command)
    .addOption(
      new Option(
        '--format <format>',
        'md, json (one session per line), html or openai-jsonl (default: by the file’s extension, else md)',
      ).choices(['md', 'json', 'html', 'openai-jsonl']),
    )
    .option('-o, --output <path>', 'a file, a directory for one file per session, or - for stdout')
    .option('--force', 'overwrite existing files')
    .option('--redact', 'replace each key, token, password and card number with [redacted KIND]')
    .option('--verbose', 'print a result line for each session, even at a terminal')
    .action(run(runExport));
}

/** `words` are ids, or `-` for stdin; none with a filter. */
export async function runExport(
  words: readonly string[],
  flags: ExportFlags,
  context: CliContext,
): Promise<number> {
  const { force = false, verbose = false } = flags;
  const filter = filterOf(flags);
  const output = flags.output === undefined || flags.output === '-' ? null : flags.output;
  const format = formatOf(flags.format, output, context);
  if (filter !== null && words.length > 0) {
    throw new ParleyError('USAGE', 'Ids and filters cannot be used together.', {
      hint: 'Name the sessions, or select them with filters such as --all.',
    });
  }
  const reading = await exportReading(context);
  const named = filter === null ? await readGivenIds(words, context) : null;
  const isOnly = named?.size === 1;
  const { exportPlace } = await import('../../transcripts/export-place.ts');
  const place = await exportPlace({ output, force, format, several: !isOnly }, context);
  const redaction = await loadRedaction(flags);
  const exported: string[] = [];
  let report: ExportReport | null = null;
  let leftOut: string | null = null;
  try {
    const ids = named ?? (await collectMatchingIds(filter, context));
    // A failure to count ends the export before a file is written.
    if (filter !== null) leftOut = await archivedNotice(filter, context);
    report = new ExportReport(
      { sessions: ids.size, place, writesResults: output !== null, verbose },
      context,
    );
    for await (const { id, read } of prefetchedSessions(ids, reading)) {
      // The embedded service answers without I/O, so signals and progress need this pause.
      await yieldToEventLoop();
      context.signal.throwIfAborted();
      const record = await readUnlessSkippable(read, redaction);
      if (record instanceof ParleyError) {
        if (isOnly) throw missingSession(record, id, context, 'active', areOnStdin(words, context));
        await report.addFailure(id, record);
        continue;
      }
      // A failure to write ends the export, because the next session could not be written either.
      const file = await place.take(record);
      exported.push(id);
      await report.add(id, file);
    }
    report.stop();
    await place.keep();
    await report.flush();
  } catch (error) {
    await place.discard();
    throw error;
  } finally {
    report?.stop();
    await recordExport(exported, context);
  }
  if (report.isEmpty)
    await context.say(
      `${named === null ? 'No session matches' : 'Standard input has no ids'}: nothing was exported.`,
    );
  else await report.summarize();
  if (leftOut !== null) await context.say(leftOut);
  if (redaction !== null) {
    const { count, summary } = redaction;
    const redacted = `${counted(count, 'secret')} redacted: ${summary}.`;
    await context.say(count === 0 ? 'No known kind of secret found.' : redacted);
  }
  return report.exitStatus;
}

/** Returns the failure to read a session. A failure that would affect every session, such as a refused key or no network, is thrown. */
async function readUnlessSkippable(
  read: () => Promise<SessionRecord>,
  redaction: Redaction | null,
): Promise<SessionRecord | ParleyError> {
  try {
    const record = await read();
    return redaction?.record(record) ?? record;
  } catch (error) {
    if (error instanceof ParleyError && skippableCodes.has(error.code)) return error;
    throw error;
  }
}

/** Marks the reads of an export, so that a server can record it in its audit log. */
async function exportReading(context: CliContext): Promise<ServiceAccess> {
  const { backend } = await context.open();
  const isExport = backend.administration === null;
  return { open: () => context.open(), call: async () => ({ ...(await context.call()), isExport }) };
}

/** Records the export in the audit log of an embedded store. */
async function recordExport(session_ids: readonly string[], context: CliContext): Promise<void> {
  if (session_ids.length === 0) return;
  const { backend } = await context.open();
  if (backend.administration === null) return;
  try {
    const { data } = await backend.service.verify(await context.call());
    const { project_id, key_id } = data;
    await backend.administration.recordExport({ project_id, key_id, session_ids });
  } catch (error) {
    const { code } = asParleyError(error);
    await context.say(
      `Warning: the export was not recorded in the audit log, which cannot be written (${code}).`,
    );
  }
}

async function loadRedaction({ redact }: ExportFlags): Promise<Redaction | null> {
  if (!redact) return null;
  const { Redaction } = await import('../../secrets/redacted-record.ts');
  return new Redaction();
}

function formatOf(
  format: ExportFormat | undefined,
  output: string | null,
  { options }: CliContext,
): ExportFormat {
  if (options.json && output === null && format !== undefined && format !== 'json') {
    throw new ParleyError('USAGE', `--json and --format ${format} cannot both apply to stdout.`, {
      hint: 'Remove one of them, or name a file with --output: --json then applies to the results.',
    });
  }
  if (format !== undefined) return format;
  if (output === null) return options.json ? 'json' : 'md';
  return formatOfFile(output) ?? 'md';
}

/** Collects the ids before the first session is read, so that the progress has a total. */
async function collectMatchingIds(
  filter: FilterChoice | null,
  context: CliContext,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  if (filter !== null) for await (const id of matchingIds(filter, false, context)) ids.add(id);
  return ids;
}
