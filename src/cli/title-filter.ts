// A glob for titles that hold a text in any letter case. The service limits the length of a glob, so a long text gives only its beginning.

/** In a glob a letter takes up to four characters, and any other character three. */
const mostCharacters = 48;

/** `begin`: titles that begin with the text; `hold`: titles with the text anywhere. A title that matches may still differ from a long text. */
export function titleGlob(text: string, where: 'begin' | 'hold'): string {
  const pattern = [...text].slice(0, mostCharacters).map((character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    if (lower !== upper && [...lower, ...upper].length === 2) return `[${lower}${upper}]`;
    return /[*?[]/.test(character) ? `[${character}]` : character;
  });
  return `${where === 'hold' ? '*' : ''}${pattern.join('')}*`;
}
