// The fenced code blocks of a Markdown text (CommonMark, section 4.5), also those in lists and quotations. The lexer is loaded when it
// is asked for.
import type { Token } from 'marked';

export type WhichBlock = 'first' | 'last';

/** What stands between the fences, with a line end unless it is empty; null where there is no such block. One that is not closed goes to the end. */
export async function fencedBlock(markdown: string, which: WhichBlock): Promise<string | null> {
  const { lexer } = await import('marked');
  const blocks = [...fencedTokens(lexer(markdown))];
  const block = which === 'first' ? blocks[0] : blocks.at(-1);
  if (block === undefined) return null;
  // The lexer leaves out the last line end, but not after blank lines.
  return block === '' || block.endsWith('\n') ? block : `${block}\n`;
}

function* fencedTokens(tokens: readonly Token[]): Generator<string> {
  for (const token of tokens) {
    if (token.type === 'code' && token['codeBlockStyle'] !== 'indented') yield String(token['text']);
    if (token.type === 'list') for (const item of token['items']) yield* fencedTokens(item.tokens);
    else if (token.type === 'blockquote') yield* fencedTokens(token['tokens'] ?? []);
  }
}
