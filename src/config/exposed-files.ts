// The warning about files that contain keys and that other users may read.
import { quoteForShell } from '../system/shell-quote.ts';
import type { ExposedFile } from './profile-file.ts';

export function exposure(files: readonly ExposedFile[]): {
  readonly message: string;
  readonly remedy: string;
} {
  const found = files.map(({ path, mode }) => `${path} (mode 0${mode.toString(8)})`).join(' and ');
  return {
    message: `Other users may read the keys in ${found}.`,
    remedy: `Run: chmod 600 ${files.map(({ path }) => quoteForShell(path)).join(' ')}`,
  };
}
