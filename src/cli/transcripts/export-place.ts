// Writes the sessions of an export to standard output or to files.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import type { SessionFacts } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { PartOwner } from '../../system/part-owner.ts';
import type { CliContext } from '../context.ts';
import { type ExportFormat, exportWriter, extensionOf } from './export-format.ts';
import { makeDirectory, NewFile, namesDirectory } from './export-target.ts';

export interface ExportPlace {
  /** True if each session is written completely by `take`; false if only `keep` completes the file. */
  readonly keepsEach: boolean;
  /** Writes a session. Resolves to its file, or null for standard output. */
  take(record: SessionRecord): Promise<string | null>;
  /** Completes the export after the last session. */
  keep(): Promise<void>;
  /** Gives up the export and removes incomplete files. */
  discard(): Promise<void>;
}

export interface ExportRequest {
  readonly format: ExportFormat;
  readonly output: string | null;
  readonly force: boolean;
  readonly several: boolean;
}

export async function exportPlace(request: ExportRequest, context: CliContext): Promise<ExportPlace> {
  const { output } = request;
  if (output === null) return standardOutput(request, context);
  if (output === '') {
    throw new ParleyError('USAGE', '--output needs the name of a file or a directory.', {
      hint: 'Nothing was written. Without --output, the export goes to standard output.',
    });
  }
  return namesDirectory(output) ? filesIn(output, request, context) : oneFile(output, request, context);
}

async function standardOutput(
  { format, several }: ExportRequest,
  { stdout }: CliContext,
): Promise<ExportPlace> {
  const writer = await exportWriter(format, several);
  let isEmpty = true;
  return {
    keepsEach: true,
    async take(record) {
      isEmpty = false;
      await stdout.write(writer.session(record));
      return null;
    },
    keep: () => stdout.write(isEmpty ? '' : writer.end()),
    discard: async () => {},
  };
}

/** The file is kept only if it has a session, so an export that finds nothing leaves no file. */
async function oneFile(
  path: string,
  { format, several, force }: ExportRequest,
  { host }: CliContext,
): Promise<ExportPlace> {
  const writer = await exportWriter(format, several);
  const file = NewFile.create(path, force, new PartOwner(host));
  let isEmpty = true;
  return {
    keepsEach: false,
    async take(record) {
      isEmpty = false;
      file.write(writer.session(record));
      return path;
    },
    async keep() {
      if (isEmpty) return file.discard();
      file.write(writer.end());
      file.keep();
    },
    discard: async () => file.discard(),
  };
}

async function filesIn(
  directory: string,
  { format, force, several }: ExportRequest,
  context: CliContext,
): Promise<ExportPlace> {
  makeDirectory(directory);
  const owner = new PartOwner(context.host);
  const index = format === 'html' && several ? await openIndex(directory, { force, owner }, context) : null;
  return {
    keepsEach: true,
    async take(record) {
      const name = fileNameOf(record.session.session_id, extensionOf(format));
      const path = join(directory, name);
      const file = NewFile.create(path, force, owner);
      try {
        const writer = await exportWriter(format, false);
        file.write(writer.session(record) + writer.end());
        file.keep();
      } catch (error) {
        file.discard();
        throw error;
      }
      index?.add(record.session, name);
      return path;
    },
    keep: async () => index?.keep(),
    discard: async () => index?.discard(),
  };
}

/** Opens the page that lists the files. An existing page is replaced only with `force`. */
async function openIndex(
  directory: string,
  { force, owner }: { readonly force: boolean; readonly owner: PartOwner },
  context: CliContext,
) {
  const path = join(directory, 'index.html');
  if (!force && existsSync(path)) {
    await context.say(`${path} already exists and was not changed; --force replaces it.`);
    return null;
  }
  const { indexEnd, indexEntry, indexStart, pageHead } = await import('./html-index.ts');
  const file = NewFile.create(path, force, owner);
  file.write(pageHead('Sessions', { runs: true }) + indexStart);
  return {
    add: (session: SessionFacts, name: string) =>
      file.write(`${indexEntry(session, encodeURIComponent(name))}\n`),
    keep: () => {
      file.write(`${indexEnd}</body>\n</html>\n`);
      file.keep();
    },
    discard: () => file.discard(),
  };
}

/** The file of a session in a directory. The id may come from any server and contain characters that a file name cannot have. */
function fileNameOf(sessionId: string, extension: string): string {
  // `index` is the name of the page that lists the files.
  const name = encodeURIComponent(sessionId)
    .replaceAll('*', '%2A')
    .replace(/^\./, '%2E')
    .replace(/^index$/i, '%69ndex');
  if (name.length <= 150) return `${name}.${extension}`;
  const rest = createHash('sha256').update(sessionId).digest('hex').slice(0, 16);
  return `${name.slice(0, 120)}-${rest}.${extension}`;
}
