// Chooses how a reply is shown: as Markdown on a terminal and unchanged everywhere else, unless an option says otherwise.
import type { Output, UntrustedWriter } from './output.ts';

/** `auto`: as Markdown on a terminal. */
export const markdownChoices = ['auto', 'always', 'never'] as const;
export type MarkdownChoice = (typeof markdownChoices)[number];

interface ReplyWriterOptions {
  /** A terminal gets filtered text with every choice. */
  readonly markdown: MarkdownChoice;
  /** Stops the rendering of a long chunk. Its write then rejects with the reason. */
  readonly signal: AbortSignal;
}

export async function replyWriter(
  output: Output,
  { markdown, signal }: ReplyWriterOptions,
): Promise<UntrustedWriter> {
  if (!rendersMarkdown(output, markdown)) return output.untrusted();
  const { MarkdownWriter } = await import('./markdown/markdown-writer.ts');
  return new MarkdownWriter(output, signal);
}

export function rendersMarkdown({ formats }: Pick<Output, 'formats'>, markdown: MarkdownChoice): boolean {
  return markdown === 'always' || (markdown === 'auto' && formats);
}
