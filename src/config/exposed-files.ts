// The warning about files with keys that other users can read, and about directories that other users can write to.
import { quoteForShell } from '../system/shell-quote.ts';
import type { ExposedFile } from './profile-file.ts';

export interface Exposure {
  readonly message: string;
  readonly remedy: string;
}

export function exposure(exposed: readonly ExposedFile[]): Exposure {
  const kinds = [
    ['Other users can read the keys in', 'chmod 600', exposed.filter(({ isDirectory }) => !isDirectory)],
    ['Other users can add files to', 'chmod o-w', exposed.filter(({ isDirectory }) => isDirectory)],
  ] as const;
  const found = kinds.filter(([, , files]) => files.length > 0);
  const pathsOf = (files: readonly ExposedFile[]) =>
    files.map(({ path, mode }) => `${path} (mode 0${mode.toString(8)})`).join(' and ');
  const commands = found.map(
    ([, command, files]) => `${command} ${files.map(({ path }) => quoteForShell(path)).join(' ')}`,
  );
  return {
    message: found.map(([problem, , files]) => `${problem} ${pathsOf(files)}.`).join(' '),
    remedy: `Run: ${commands.join(' && ')}`,
  };
}
