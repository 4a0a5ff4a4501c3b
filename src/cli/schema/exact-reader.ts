// Parses JSON and reports what JSON.parse ignores: repeated names, numbers with more digits than a JavaScript number has, and too deep nesting.
// The place of each problem is a JSON Pointer.
import { ExactNumber, isHeldExactly } from '../../service/exact-number.ts';

/** What is wrong with a value, and where: a JSON Pointer (RFC 6901), empty for the whole value. */
export interface Fault {
  readonly place: string;
  readonly reason: string;
}

export interface ReadJson {
  readonly value: unknown;
  /** The numbers that a JavaScript number cannot hold. */
  readonly inexact: readonly InexactNumber[];
}

export interface InexactNumber {
  readonly place: string;
  readonly number: ExactNumber;
}

/** Thrown for text that cannot be parsed. */
export class UnreadableJson extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.reason);
    this.fault = fault;
  }
}

const maxLevels = 500;

/** Extends a JSON Pointer by a name or the index of an item. */
export function placeIn(place: string, name: string | number): string {
  return `${place}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Throws {@link UnreadableJson}. */
export function readExactJson(text: string): ReadJson {
  return new ExactReader(text).read();
}

const space = /[ \t\n\r]*/y;
const numberText = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

class ExactReader {
  readonly #text: string;
  readonly #inexact: InexactNumber[] = [];
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadJson {
    const value = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault('there is more text after the JSON value', '');
    return { value, inexact: this.#inexact };
  }

  #value(): unknown {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object();
      case '[':
        return this.#list();
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(): object {
    const object: Record<string, unknown> = {};
    this.#enter();
    for (let isFirst = true; !this.#ends('}', isFirst); isFirst = false) {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#notJson();
      const name = this.#string();
      this.#path[this.#path.length - 1] = name;
      if (Object.hasOwn(object, name)) throw this.#fault('the name is repeated');
      this.#skipSpace();
      if (this.#text[this.#at] !== ':') throw this.#notJson();
      this.#at += 1;
      // A plain assignment to `__proto__` would set the prototype.
      Object.defineProperty(object, name, {
        value: this.#value(),
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#enter();
    while (!this.#ends(']', list.length === 0)) {
      this.#path[this.#path.length - 1] = list.length;
      list.push(this.#value());
    }
    return list;
  }

  /** Steps into an object or a list. */
  #enter(): void {
    this.#at += 1;
    if (this.#path.length >= maxLevels) throw this.#fault(`it is nested deeper than ${maxLevels} levels`);
    this.#path.push('');
  }

  /** Consumes the closing bracket and returns true, or consumes the comma before the next member. The first member has no comma. */
  #ends(bracket: string, isFirst: boolean): boolean {
    this.#skipSpace();
    const next = this.#text[this.#at];
    if (next === bracket) {
      this.#at += 1;
      this.#path.pop();
      return true;
    }
    if (isFirst) return false;
    if (next !== ',') throw this.#notJson();
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === bracket) throw this.#notJson();
    return false;
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    for (let escapes = 1; escapes % 2 === 1; ) {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw this.#incomplete();
      escapes = 0;
      while (this.#text[end - 1 - escapes] === '\\') escapes += 1;
    }
    try {
      const value: string = JSON.parse(this.#text.slice(start, end + 1));
      this.#at = end + 1;
      return value;
    } catch {
      throw this.#notJson();
    }
  }

  #scalar(): unknown {
    numberText.lastIndex = this.#at;
    const literal = numberText.exec(this.#text)?.[0];
    if (literal !== undefined) {
      this.#at += literal.length;
      return this.#number(literal);
    }
    const word = Object.keys(words).find((known) => this.#text.startsWith(known, this.#at));
    if (word === undefined) throw this.#at >= this.#text.length ? this.#incomplete() : this.#notJson();
    this.#at += word.length;
    return words[word];
  }

  #number(literal: string): number | ExactNumber {
    if (isHeldExactly(literal)) return Number(literal);
    const number = new ExactNumber(literal);
    this.#inexact.push({ place: this.#place, number });
    return number;
  }

  #skipSpace(): void {
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#text)?.[0].length ?? 0;
  }

  get #place(): string {
    return this.#path.reduce<string>(placeIn, '');
  }

  #fault(reason: string, place = this.#place): UnreadableJson {
    return new UnreadableJson({ place, reason });
  }

  #incomplete(): UnreadableJson {
    return this.#fault('it ends before the JSON value is complete', '');
  }

  #notJson(): UnreadableJson {
    if (this.#at >= this.#text.length) return this.#incomplete();
    const before = this.#text.slice(0, this.#at);
    const line = before.split('\n').length;
    const column = this.#at - before.lastIndexOf('\n');
    return this.#fault(`it is not JSON (line ${line}, column ${column})`, '');
  }
}
