// Determines the kind of a line after its containers: heading, rule, fence, HTML, table row or text of a paragraph.
import type { LeafStart, OpenLeaf, Undecided } from './blocks.ts';
import { alignmentsOf, cellsOf, ruleBeginning } from './table-rows.ts';

/** Tags that start a block of HTML (CommonMark 0.31, section 4.6, kinds 1 and 6). */
const blockTags = new Set(
  (
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset ' +
    'figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem ' +
    'nav noframes ol optgroup option p param pre script search section source style summary table tbody td template textarea ' +
    'tfoot th thead title tr track ul'
  ).split(' '),
);
const endedByTag = new Set(['pre', 'script', 'style', 'textarea']);

/** `text` has no leading white space. `open` is the leaf that the line may continue. */
export function leafOf(
  text: string,
  indent: number,
  complete: boolean,
  open: OpenLeaf,
): LeafStart | Undecided {
  const start = tableLine(text, complete, open) ?? markedStart(text, indent, complete, open);
  if (start !== null) return start;
  if (open.kind === 'table') return complete ? { kind: 'row', text } : 'line';
  return text.startsWith('|') ? head(text, complete) : { kind: 'paragraph', text };
}

/** The start of a block that its first character marks. */
function markedStart(
  text: string,
  indent: number,
  complete: boolean,
  open: OpenLeaf,
): LeafStart | Undecided | null {
  switch (text[0]) {
    case '#':
      return heading(text, complete);
    case '`':
    case '~':
      return fence(text, indent, complete);
    case '<':
      return html(text, complete);
    case '-':
    case '*':
    case '_':
    case '=':
      return underlineOrRule(text, complete, open);
    default:
      return null;
  }
}

function tableLine(text: string, complete: boolean, open: OpenLeaf): LeafStart | Undecided | null {
  if (open.kind !== 'head' && open.kind !== 'paragraph') return null;
  const cells = open.kind === 'head' ? open.cells : open.cells();
  if (cells < 1 || !ruleBeginning.test(text)) return null;
  if (!complete) return 'more';
  return alignmentsOf(text)?.length === cells ? { kind: 'table-rule', text } : null;
}

function head(text: string, complete: boolean): LeafStart | 'line' {
  return complete ? { kind: 'head', cells: cellsOf(text).length, text } : 'line';
}

function heading(text: string, complete: boolean): LeafStart | Undecided | null {
  if (!complete && /^#{1,6}$/.test(text)) return 'more';
  const found = /^(#{1,6})(?:[ \t]+|$)/.exec(text);
  if (found === null) return null;
  return { kind: 'heading', level: found[1]?.length ?? 1, text: text.slice(found[0].length) };
}

function underlineOrRule(text: string, complete: boolean, open: OpenLeaf): LeafStart | Undecided | null {
  const inParagraph = open.kind === 'paragraph';
  if (inParagraph && /^(?:=+|-+)[ \t]*$/.test(text))
    return complete ? { kind: 'underline', text: text.trimEnd() } : 'more';
  if (!isRuleBeginning(text)) return null;
  if (!complete) return 'more';
  return isRule(text) ? { kind: 'rule' } : null;
}

export function isRule(text: string): boolean {
  return /^([-*_])[ \t]*(?:\1[ \t]*){2,}$/.test(text);
}

/** True for text that may still become a rule. */
export function isRuleBeginning(text: string): boolean {
  return /^([-*_])[ \t]*(?:\1[ \t]*)*$/.test(text);
}

function fence(text: string, indent: number, complete: boolean): LeafStart | Undecided | null {
  const run = /^(`+|~+)/.exec(text)?.[1] ?? '';
  if (!complete && run.length === text.length) return 'more';
  const mark = run[0] ?? '';
  const rest = text.slice(run.length);
  if (run.length < 3 || (mark === '`' && rest.includes('`'))) return null;
  if (!complete) return 'line';
  return { kind: 'fence', mark, length: run.length, indent, info: rest.trim(), text: text.trimEnd() };
}

function html(text: string, complete: boolean): LeafStart | Undecided | null {
  if (!complete && (/^<(?:[/?!]?|!-)$/.test(text) || mayBecomeBlockTag(text))) return 'more';
  if (text.startsWith('<!--')) return { kind: 'html', end: /-->/, text };
  if (/^<(?:\?|![A-Za-z])/.test(text)) return { kind: 'html', end: null, text };
  const tag = /^<(\/?)([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>]|$)/.exec(text);
  const name = tag?.[2]?.toLowerCase() ?? '';
  if (!blockTags.has(name)) return null;
  const ended = tag?.[1] === '' && endedByTag.has(name);
  return { kind: 'html', end: ended ? new RegExp(`</${name}>`, 'i') : null, text };
}

function mayBecomeBlockTag(text: string): boolean {
  const name = /^<\/?([a-zA-Z][a-zA-Z0-9]*)$/.exec(text)?.[1]?.toLowerCase();
  return name !== undefined && [...blockTags].some((tag) => tag.startsWith(name));
}
