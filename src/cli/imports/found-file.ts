// A file that an import found.
import { ParleyError } from '../../service/errors.ts';
import type { SourceFile } from './source.ts';

/** A file, or why a file or directory is skipped. */
export type FoundFile =
  | { readonly file: SourceFile; readonly isNamed: boolean }
  | { readonly path: string; readonly failure: ParleyError }
  | { readonly path: string; readonly skipped: string };

export function tooMany(path: string, problem: string): ParleyError {
  return new ParleyError('PAYLOAD_TOO_LARGE', `${path} ${problem}.`, {
    hint: 'It was skipped; the rest was read.',
  });
}
