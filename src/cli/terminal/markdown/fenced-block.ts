// Finds the fenced code blocks of a Markdown text (CommonMark, section 4.5), including those in lists and quotations. The lexer is
// loaded at the first call.
import type { Token } from 'marked';

export type WhichBlock = 'first' | 'last';

/** The text between the fences, with a final newline unless it is empty. Null if there is no such block. An unclosed block extends to the end. */
export async function fencedBlock(markdown: string, which: WhichBlock): Promise<string | null> {
  const { lexer } = await import('marked');
  const blocks = [...fencedTokens(lexer(markdown))];
  const block = which === 'first' ? blocks[0] : blocks.at(-1);
  if (block === undefined) return null;
  // The lexer drops the last newline, but not after blank lines.
  return block === '' || block.endsWith('\n') ? block : `${block}\n`;
}

function* fencedTokens(tokens: readonly Token[]): Generator<string> {
  for (const token of tokens) {
    if (token.type === 'code' && token['codeBlockStyle'] !== 'indented') yield String(token['text']);
    if (token.type === 'list') for (const item of token['items']) yield* fencedTokens(item.tokens);
    else if (token.type === 'blockquote') yield* fencedTokens(token['tokens'] ?? []);
  }
}
