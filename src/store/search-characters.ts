// The characters of words in a search, and the characters that count as equal, as in SQLite's FTS5 ("unicode61 remove_diacritics 2" for
// words, "trigram" for pieces) with its tables of Unicode 6.1. Stores that build an index themselves, and the rules that read texts, must
// agree with FTS5 on every character, whatever Unicode version this Node has.

/**
 * The ranges of the characters of words, in base 36: the distance of each from the end of the range before, then the distance of its own
 * end.
 */
const wordRanges = `
  1c,9 8,p 7,p 1c 8,1 2 4,1 2,2 2,m 2,u 2,cp 5,b f,4 8 2 3m,4 2,7 2,4 3 2,31 2,3u 9,5r 7,14 3,3 2 1k,16 3,a 6
  n,1 3,16 m,9 5,1 2,2q 2 g,1 8,e 3 f 2 2,t s,2i c,1l a,1 5,r 5 a 4 6,1 g,p 4,1 2,3o s 5,1h 4 j 8,9 5,9 2,f
  4,1j 2 8,1 3,1 4,8 2,9 3,d 3,5 3,4 4,1j 2 6,3 3,1 4,2 2,t 3,2 2,a 4,1j 2 9 4 4,j 3,b 3,e 4,1j 2 8,1 3,1 4,7
  3,9 3,b 2,g 2,1m 6,2 4 5,8 2,q 9,5 4,1l 8 4 5,6 3,a 3,q 2,1 3,1j 2 8 4 5,6 3,a 3,t 3,1l 8 4 5,8 2,9 3,k 2,7
  3,1x 2,3 7 2 9,h 4,1n 2,1 8,3 2,6 a,9 3,2c 2,1 7 3,a 7,1e w,j d,1c o,4 c 11 g e,27 l,a 7,5 5,3 4 4,1 8,2 5,c
  d 2,9 7,2i 2,gw d,12 b,2t 2,h7 3,g 2,p 3,25 4,z 4,s 6,q 3,t 3,1r 10 5 2,x g,49 2,39 d,3 d,3 2,2 3,2x i,6 3,j
  z,m 6,1 3,1g b u,1 2,v 8 7,29 6,1a i,k 10,2 4,t e,1j f,7 5,z l,2 6,1p 3,1r 9,7 q,3 2,3 4,5m 14,k 5,cc 2 4,a
  4,c 4,c 4,c 3 2u,4 7,9 6,a 6,g r,l y,e 3 5 3,9 2 4,4 7 2 2 2,3 2,a 3,3 6,4 5 2,1r h1,b 14,o c,28 27,l e9
  3a,t qi,2 b,ay 7,3 4,6 5 3,33 2,d 2,2n 28 d,1v r 2i,b 5z,p d,3 6,2 q,8 8,4 3,4 4,2g 5,2 2,2h 2,43 3,3 b,v
  11,r w,a v,7 2,e x,9 14,e 1s 75,533 1t,h3j 1k,1i 3,7g 4,2m h,v 2,27 9,7 o,8 3,2u 3,3a 2,2 2,3 2,m a,9 5,1l
  5,7 3,1d i,8 3,f j,5 4,16 b,m e,a 2,v 5,1a s,f 3,20 f,b 2,7 3,d 5,m 4 2,1f 2 4,1 3,4 3 2,r 3,a 8,2 3,6j
  c,8pd 1kx,5ct 2,9 2,3r h,aj 3,57 3,1 r,5 8,8 10 k 5,42 2 g,9 8,p 7,p c,3d 8 8,9 8,73 4,1f a,1k i,5 d,1f
  1b,bk 2,1b 2,w5 2,5i 2,u 2,5c 4 3,4 5,13 4,3 2,f a,11 2,54 8,xr 4,1g n,1d 4,18 j,1p 4,z f,a 5,1n 4,1b f,3
  5,yp e,2pj 5,esc 1b,f 5,j1o 6v,9 14,1 52,x 1z,55 2g,o9 2,o 2,u 2,o 2,u 2,o 2,u 2,o 2,u 2,o 2,4kr 3,7h 19,3
  2t,b g,1 f,1 g g,1b w 1p,3 18,22 u,c 18,4 a,6 3,4t y,e 7 1z,2 l,b 12 6,k i,e 1s 2 53 5,2 1r,1 5,b p,42 1z,3
  c,1b 1z,1l 39,gwi4 2,t 2p,3j 6p,47bj`;
/** Marks that are skipped inside a word. Any other mark ends the word. */
const marks = '\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331';

/** Capital letters without a small letter in Unicode 6.1, but with one in newer versions. */
const alone =
  /[\u0130\u037f\u0528\u052a\u052c\u052e\u13a0-\u13f5\u1c89-\u1cbf\u2c2f\ua698\ua69a\ua796-\ua79f\ua7ab-\ua7f5\u{104b0}-\u{104d3}\u{10570}-\u{10595}\u{10c80}-\u{10cb2}\u{10d50}-\u{10d65}\u{118a0}-\u{118bf}\u{16e40}-\u{16e5f}\u{16ea0}-\u{16eb8}\u{1e900}-\u{1e921}]/u;
/** Small letters that count as equal to other letters. */
const equals: Readonly<Record<string, string>> = {
  ...{
    µ: 'μ',
    ſ: 's',
    '\u0345': 'ι',
    ς: 'σ',
    ϐ: 'β',
    ϑ: 'θ',
    ϕ: 'φ',
    ϖ: 'π',
    ϰ: 'κ',
    ϱ: 'ρ',
    ϵ: 'ε',
    ẛ: 'ṡ',
    '\u1fbe': 'ι',
  },
  ...{ '\ufffe': '\ufffd', '\uffff': '\ufffd' },
};

const special = new RegExp(`[${alone.source.slice(1, -1)}${Object.keys(equals).join('')}Σ]`, 'u');
const beyondAscii = /[^\0-\x7f]/gu;
const markCharacters = new RegExp(`[${marks}]`, 'g');

/** The expression is made at its first use, because making it takes a millisecond. */
const wordExpression = madeOnce(newWordExpression);

/** The words of a text with their places. */
export function wordsIn(text: string): IterableIterator<RegExpMatchArray> {
  return text.matchAll(wordExpression());
}

/** True if a text holds at least one word. */
export function hasWord(text: string): boolean {
  return wordsIn(text).next().done !== true;
}

/** A word, folded for comparison: without case, and without the marks on Latin letters. */
export function foldWord(word: string): string {
  return word
    .replace(markCharacters, '')
    .replace(beyondAscii, foldLetter)
    .replace(/[A-Z]+/g, lower);
}

/** A text, folded for the comparison of pieces: without case. Each character keeps its place. */
export function foldCase(text: string): string {
  return special.test(text)
    ? text.replace(beyondAscii, smallLetter).replace(/[A-Z]+/g, lower)
    : text.toLowerCase();
}

function madeOnce<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

function newWordExpression(): RegExp {
  let end = 0;
  const ranges = wordRanges
    .trim()
    .split(/\s+/)
    .map((range) => {
      const [distance = 0, length = 0] = range.split(',').map((digits) => Number.parseInt(digits, 36));
      const start = end + distance;
      end = start + length;
      return `\\u{${start.toString(16)}}-\\u{${end.toString(16)}}`;
    });
  const letters = ranges.join('');
  return new RegExp(`[${letters}][${letters}${marks}]*`, 'gu');
}

function lower(text: string): string {
  return text.toLowerCase();
}

function smallLetter(character: string): string {
  if (alone.test(character)) return character;
  const small = character.toLowerCase();
  return equals[small] ?? small;
}

function foldLetter(character: string): string {
  const small = smallLetter(character);
  const base = small.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  // This exception is the one that FTS5 makes.
  return /^[a-z]$/.test(base) && small !== 'ǡ' ? base : small;
}
