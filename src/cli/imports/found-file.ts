// A file that an import found, or why it is not read.
import { ParleyError } from '../../service/errors.ts';
import type { SourceFile } from './source.ts';

/** A file, or why a file or a directory is not read. */
export type FoundFile =
  | { readonly file: SourceFile; readonly isNamed: boolean }
  | { readonly path: string; readonly failure: ParleyError }
  | { readonly path: string; readonly skipped: string };

export function tooMany(path: string, problem: string): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `${path} ${problem}.`, {
    hint: 'It was not read; the rest was.',
  });
}
