// Reads a message as clauses of words. Punctuation ends clauses and is not part of words. The script decides what a word means.

export interface Word {
  /** As the user wrote it. */
  readonly text: string;
  /** As scripts spell it: in lower case, with a straight apostrophe. */
  readonly key: string;
}

// ELIZA answers one clause. Only about the first paragraph of a message is read, so that no message takes long.
const maxCharacters = 2000;
const maxWords = 200;

// Control characters, halves of surrogate pairs and marks that change the direction of text separate words, as white space does.
const token =
  /[\n\r—–…。，、！？；：]|[^\s\0-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069—–…。，、！？；：]+/gu;
const clauseEnd = /[\n\r—–…。，、！？；：.,;:!?]|^-+$/;
const readable = /[^!-/:-@[-`{-~\n\r—–…。，、！？；：“”‘’„«»‹›¿¡]/;
// A full stop may begin a word, such as .NET or .gitignore.
const opening = '"\'“”‘’„«»‹›()[]{}*_`~¿¡';
const closing = `${opening}.,;:!?`;

/** The clauses of a message that have words. As in 1966, a clause ends at a comma, at a full stop, and at "but". */
export function readClauses(message: string): readonly (readonly Word[])[] {
  const clauses: Word[][] = [];
  let clause: Word[] = [];
  let count = 0;
  const end = () => {
    if (clause.length > 0) clauses.push(clause);
    clause = [];
  };
  for (const piece of message.slice(0, maxCharacters).match(token) ?? []) {
    if (count === maxWords) break;
    const opened = trimEnd(piece);
    const word = toWord(trimStart(opened));
    if (!readable.test(word.text)) {
      if (clauseEnd.test(piece)) end();
    } else if (word.key === 'but') {
      end();
    } else {
      clause.push(word);
      count += 1;
      if (opened.length < piece.length && clauseEnd.test(piece.slice(opened.length))) end();
    }
  }
  end();
  return clauses;
}

/** The words of a text without punctuation, such as a script's. */
export function readWords(text: string): readonly Word[] {
  return text.split(' ').filter(Boolean).map(toWord);
}

export function joinWords(words: readonly Word[]): string {
  return words.map((word) => word.text).join(' ');
}

function toWord(text: string): Word {
  const key = text.toLowerCase();
  return { text, key: key.includes('’') ? key.replaceAll('’', "'") : key };
}

function trimStart(text: string): string {
  let start = 0;
  while (start < text.length && opening.includes(text.charAt(start))) start += 1;
  return start === 0 ? text : text.slice(start);
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && closing.includes(text.charAt(end - 1))) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}
