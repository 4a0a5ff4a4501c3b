// A glob for titles that contain a text, in any letter case. The service limits the length of a glob, so only the start of a long text is used.

/** In a glob a letter takes up to four characters, and any other character three. */
const maxCharacters = 48;

/** `start` finds titles that start with the text; `anywhere` finds those that contain it. A match may still differ from a long text. */
export function titleGlob(text: string, where: 'start' | 'anywhere'): string {
  const pattern = [...text].slice(0, maxCharacters).map((character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    if (lower !== upper && [...lower, ...upper].length === 2) return `[${lower}${upper}]`;
    return /[*?[]/.test(character) ? `[${character}]` : character;
  });
  return `${where === 'anywhere' ? '*' : ''}${pattern.join('')}*`;
}
