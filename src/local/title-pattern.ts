// A glob over titles, as a person types it: `*` any characters, `?` any one, `[a-z]` one of a set, `[^a-z]` one outside the set. A `]` that
// comes first in a set is a member, and so is a `-` that comes first or last. A set without its closing `]` matches nothing.
import type { CharacterRange, TitlePart, TitlePattern } from '../store/session-filters.ts';

const part =
  /(?<any>\*+)|(?<one>\?)|\[(?:(?<not>\^)|(?!\^))(?<set>(?:\](?=[^\]]*\])|(?!\]))[^\]]*)\]|(?<open>\[)|(?<text>[^*?[]+)/gu;

/** Every text is a valid glob. */
export function readTitlePattern(glob: string): TitlePattern {
  return Array.from(glob.matchAll(part), ({ groups = {} }): TitlePart => {
    const { any, one, not, set, open, text = '' } = groups;
    if (any !== undefined) return { kind: 'any' };
    if (one !== undefined) return { kind: 'one' };
    if (open !== undefined) return { kind: 'set', isNegated: false, ranges: [] };
    if (set === undefined) return { kind: 'text', text };
    return { kind: 'set', isNegated: not !== undefined, ranges: rangesOf([...set]) };
  });
}

function rangesOf(characters: readonly string[]): readonly CharacterRange[] {
  const ranges: CharacterRange[] = [];
  let from: string | null = null;
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    const to = characters[at + 1];
    if (character === '-' && from !== null && to !== undefined) {
      if (codeOf(from) <= codeOf(to)) ranges.push({ from, to });
      from = null;
      at += 1;
      continue;
    }
    ranges.push({ from: character, to: character });
    // A `]` is a member only as the first character of a set, and it cannot begin a range.
    from = character === ']' ? null : character;
  }
  return ranges;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
