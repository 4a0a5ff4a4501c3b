// Reassembly: builds a reply from the parts of a clause. The dialogue decides which reassembly is next.
import { ParleyError } from '../../../service/errors.ts';
import { joinWords, type Word } from './clause.ts';

type Facts = ReadonlyMap<string, string>;

/**
 * `text`: a reply. `link`: continue with another keyword, and with another text if there is one. `newkey`: continue with the next keyword
 * of the clause.
 */
export type Reassembly = { readonly unless: string | null } & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly key: string; readonly text: string | null }
  | { readonly kind: 'newkey' }
);

const source = /^(?:\(unless (\w+)\) )?(?:(\(newkey\))|(?:\(pre ([^()]+)\) )?=(\S+)|([^=(].*))$/;
const fact = /\{(\w+)\}/g;
const slot = /\{(\w+)\}|( ?)\b(\d+)\b/g;

export function parseReassembly(reassembly: string): Reassembly {
  const match = source.exec(reassembly);
  if (match === null)
    throw new ParleyError('INTERNAL_ERROR', `ELIZA’s reassembly “${reassembly}” cannot be read.`);
  const [, unless = null, newkey, pre = null, key, text] = match;
  if (newkey !== undefined) return { kind: 'newkey', unless };
  if (key !== undefined) return { kind: 'link', key, text: pre, unless };
  return { kind: 'text', text: text ?? '', unless };
}

/** The names of the facts that a reassembly uses. */
export function factsIn(reassembly: Reassembly): readonly string[] {
  const text = reassembly.kind === 'newkey' ? null : reassembly.text;
  return text?.includes('{') ? [...text.matchAll(fact)].map(([, name = '']) => name) : [];
}

export function isAvailable(reassembly: Reassembly, facts: Facts): boolean {
  if (reassembly.unless !== null && facts.has(reassembly.unless)) return false;
  return factsIn(reassembly).every((name) => facts.has(name));
}

/** The text with words and facts in their places. The space before an element without words is removed with it. */
export function fill(text: string, parts: readonly (readonly Word[])[], facts: Facts): string {
  return text.replace(
    slot,
    (_, name: string | undefined, space: string | undefined, index: string | undefined) => {
      if (name !== undefined) return facts.get(name) ?? '';
      const words = joinWords(parts[Number(index) - 1] ?? []);
      return words === '' ? '' : `${space}${words}`;
    },
  );
}
