// `sessions delete -` with thousands of files of ids, over a real store: a valid file deletes the sessions that it names; a file with a single fault
// deletes nothing and reports the line.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Backend } from '../../src/service/backend.ts';
import { anySession } from '../../src/service/session-archive.ts';
import { callWith } from './calls.ts';
import { newKey, openEmbedded } from './embedded.ts';
import { type IdFile, idFiles } from './id-files.ts';
import { type InProcessOutcome, ProgramInProcess } from './program-in-process.ts';

export interface FuzzReport {
  readonly files: number;
  /** The number of valid files, and of their ids. */
  readonly valid: number;
  readonly deleted: number;
  readonly refused: number;
  readonly milliseconds: number;
}

/** Fails on the first file with an unexpected effect, minimised. */
export async function fuzzIdFiles(directory: string, files: number): Promise<FuzzReport> {
  const began = performance.now();
  const store = join(directory, 'store');
  mkdirSync(store);
  const backend = await openEmbedded(store);
  const report = { files: 0, valid: 0, deleted: 0, refused: 0 };
  try {
    const apiKey = await newKey(backend, 'own');
    const own = await newSessions(backend, apiKey, 5);
    const hidden = await newSessions(backend, apiKey, 1);
    await backend.archive.deleteSessions(callWith(apiKey), hidden);
    const otherKey = await newKey(backend, 'other');
    const foreign = await newSessions(backend, otherKey, 2);
    const program = new ProgramInProcess({ directory, backend, apiKey });
    const cut = fc.array(fc.nat(400), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(idFiles([...own, ...hidden, ...foreign]), cut, async (file, places) => {
        const outcome = await program.run(['sessions', 'delete', '-', '--yes'], chunks(file.bytes, places));
        const left = await active(backend, apiKey);
        const gone = own.filter((id) => !left.includes(id));
        if (gone.length > 0) await backend.archive.restoreSessions(callWith(apiKey), gone);
        rmSync(join(directory, 'data'), { recursive: true, force: true });
        requireEqual(seen(outcome, gone), expected(file, own), outcome.err);
        requireEqual(await active(backend, otherKey), [...foreign].sort(), 'another project');
        const { wrongLines } = file;
        if (file.ids === null && !outcome.err.includes(`Line ${wrongLines[0]} of standard input `))
          throw new Error(`Line ${wrongLines[0]} is not named: ${outcome.err}`);
        report.files += 1;
        report[file.ids === null ? 'refused' : 'valid'] += 1;
        report.deleted += gone.length;
      }),
      { numRuns: files },
    );
  } finally {
    await backend.close();
  }
  return { ...report, milliseconds: Math.round(performance.now() - began) };
}

interface Seen {
  readonly status: number;
  readonly results: readonly string[];
  readonly gone: readonly string[];
}

function seen({ status, out }: InProcessOutcome, gone: readonly string[]): Seen {
  return { status, results: out.split('\n').slice(0, -1).sort(), gone: [...gone].sort() };
}

function expected({ ids }: IdFile, own: readonly string[]): Seen {
  if (ids === null) return { status: 2, results: [], gone: [] };
  const distinct = [...new Set(ids)];
  const gone = distinct.filter((id) => own.includes(id)).sort();
  const lines = ids.map((id, at) => {
    if (ids.indexOf(id) !== at) return `duplicate ${id}`;
    return `${own.includes(id) ? 'deleted' : 'not_found'} ${id}`;
  });
  const some = distinct.length === 1 ? 5 : 3;
  return { status: gone.length === distinct.length ? 0 : some, results: lines.sort(), gone };
}

function requireEqual(is: unknown, must: unknown, why: string): void {
  const [one, other] = [JSON.stringify(is), JSON.stringify(must)];
  if (one !== other) throw new Error(`is   ${one}\nmust ${other}\n${why}`);
}

function chunks(bytes: Buffer, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...places.map((place) => Math.min(place, bytes.length)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end)).filter(({ length }) => length > 0);
}

async function newSessions(backend: Backend, apiKey: string, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count)
    ids.push((await backend.service.createSession(callWith(apiKey), { title: null })).data.session_id);
  return ids;
}

async function active(backend: Backend, apiKey: string): Promise<readonly string[]> {
  const { data } = await backend.archive.listSessions(callWith(apiKey), {
    ...anySession,
    ...{ limit: 200, cursor: null },
  });
  return data.items.map(({ session_id }) => session_id).sort();
}
