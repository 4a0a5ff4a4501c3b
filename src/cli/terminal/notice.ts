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
  const lines = mayBeTooWide
    ? await (await import('./wrapped-line.ts')).wrappedNotice(notice, output)
    : notice;
  await output.write(terminalText`${paint(lines)}\n`);
}
