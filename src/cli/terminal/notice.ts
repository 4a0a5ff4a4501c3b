// Writes notices. Every command loads this file, so what wraps a notice is loaded only for one that may be too wide.
import type { Output } from './output.ts';
import { type OutputText, terminalText } from './terminal-text.ts';

/** Matches characters that may take two columns. */
const wide = /[\u1100-\uffff]/;

/** Writes a notice as a line of its own, or as several. */
export async function writeNotice(
  text: string,
  output: Output,
  paint: (text: string) => OutputText = (plain) => plain,
): Promise<void> {
  const notice = output.visible(text);
  const mayBeTooWide = output.formats && (notice.length > output.columns() || wide.test(notice));
  // The notice may report that no file can be opened, or that the files of Parley were replaced. It is then shown as it is.
  const lines = mayBeTooWide
    ? await import('./wrapped-line.ts')
        .then(({ wrappedNotice }) => wrappedNotice(notice, output))
        .catch(() => notice)
    : notice;
  await output.write(terminalText`${paint(lines)}\n`);
}
