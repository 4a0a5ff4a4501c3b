// Chooses how a reply is shown: as Markdown on a terminal, unchanged everywhere else.
import type { Output, UntrustedWriter } from './output.ts';

export interface ReplyWriterOptions {
  /** True for no Markdown styling. The filter still applies on a terminal. */
  readonly raw: boolean;
  /** Stops the rendering of a long chunk: its write then rejects with the reason. */
  readonly signal: AbortSignal;
}

export async function replyWriter(
  output: Output,
  { raw, signal }: ReplyWriterOptions,
): Promise<UntrustedWriter> {
  if (raw || !output.formats) return output.untrusted();
  const { MarkdownWriter } = await import('./markdown/markdown-writer.ts');
  return new MarkdownWriter(output, signal);
}
