// Writes the sessions of an export to standard output or into files.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import type { SessionFacts } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import type { CliContext } from '../context.ts';
import { type ExportFormat, endingOf, exportWriter } from './export-format.ts';
import { fileNameOf } from './export-name.ts';
import { makeDirectory, NewFile, namesDirectory } from './export-target.ts';

export interface ExportPlace {
  /** Resolves once every session taken so far is stored. */
  readonly keepsEach: boolean;
  /** Resolves to the file of the session, or null for standard output. */
  take(record: SessionRecord): Promise<string | null>;
  /** Called after the last session. */
  keep(): Promise<void>;
  /** Gives the export up and removes each file that is not whole. */
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
      hint: 'Nothing was written. Without it, the export goes to standard output.',
    });
  }
  return namesDirectory(output) ? filesIn(output, request, context) : oneFile(output, request);
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

/** The file is kept only if a session came, so an export that finds nothing leaves no file. */
async function oneFile(path: string, { format, several, force }: ExportRequest): Promise<ExportPlace> {
  const writer = await exportWriter(format, several);
  const file = NewFile.create(path, force);
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
  const index = format === 'html' && several ? await openIndex(directory, force, context) : null;
  return {
    keepsEach: true,
    async take(record) {
      const name = fileNameOf(record.session.session_id, endingOf(format));
      const path = join(directory, name);
      const file = NewFile.create(path, force);
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

/** A page beside the files that lists them. One that is there already is not replaced without `force`. */
async function openIndex(directory: string, force: boolean, context: CliContext) {
  const path = join(directory, 'index.html');
  if (!force && existsSync(path)) {
    await context.say(`${path} is there already and stays as it is; --force replaces it.`);
    return null;
  }
  const { indexEnd, indexEntry, indexStart, pageHead } = await import('./html-index.ts');
  const file = NewFile.create(path, force);
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
