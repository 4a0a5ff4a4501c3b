// How a reply is shown: as Markdown on a terminal, as it came everywhere else.
import type { Output, UntrustedWriter } from './output.ts';

export interface ReplyWriterOptions {
  /** No Markdown styling. On a terminal the filter stays. */
  readonly raw: boolean;
  /** Stops the rendering of a long chunk: its write rejects with the reason. */
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
