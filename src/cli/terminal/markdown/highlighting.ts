// Code in colour, line by line: highlight.js reads a line and says in which construct it ended; the next line begins in it.
// So a comment over ten lines is one, and a line is read once however long the block is.
import type { CompiledMode, Emitter, HLJSApi, Language } from 'highlight.js';
import core from 'highlight.js/lib/core';
import { furtherNames, languages } from './languages.ts';
import { painted } from './theme.ts';

export interface CodePainter {
  /** The line, without its newline, in colour. */
  line(text: string): string;
}

/** By scope of highlight.js; of `title.function` first the whole, then its beginning. */
const scopeCodes: Readonly<Record<string, string>> = {
  keyword: '35',
  built_in: '36',
  type: '36',
  literal: '36',
  number: '33',
  string: '32',
  regexp: '32',
  subst: '39',
  symbol: '33',
  char: '33',
  comment: '2',
  quote: '2',
  doctag: '2;1',
  meta: '2',
  'meta.prompt': '2',
  title: '34',
  'title.class': '33',
  section: '1;34',
  tag: '39',
  name: '35',
  attr: '34',
  attribute: '34',
  property: '34',
  variable: '33',
  'template-variable': '33',
  params: '39',
  'selector-tag': '35',
  'selector-class': '34',
  'selector-id': '34',
  'selector-attr': '34',
  'selector-pseudo': '34',
  link: '4',
  bullet: '33',
  addition: '32',
  deletion: '31',
  emphasis: '3',
  strong: '1',
};

/** In the info of a fence: `ts title="a.ts"`, or `{.ts}`. */
const languageName = /^\{?\.?([\w+#.-]+)/;

/** Code nested deeper than this is read as if it began anew: a stack without bound would not stay in memory. */
const deepest = 200;

/** A construct that is open at the end of a line; the outermost, the language itself, has no parent. */
type Mode = (CompiledMode | Language) & { readonly parent?: Mode; readonly scope?: unknown };

export class Highlighting {
  readonly #highlighter: HLJSApi = core.newInstance();
  /** Where the next line begins: for the emitter that highlight.js is about to make. */
  #scopes: readonly string[] = [];
  /** A language made by `#goingOn` → the construct that it stands for. Without it each line would inherit from the one before it. */
  readonly #continued = new WeakMap<Mode, Mode>();

  constructor() {
    for (const [name, definition] of Object.entries(languages))
      this.#highlighter.registerLanguage(name, definition);
    for (const [name, languageName] of Object.entries(furtherNames))
      this.#highlighter.registerAliases(name, { languageName });
    const begin = () => {
      const scopes = this.#scopes;
      // Those of a language inside another are made during the same line, and begin with nothing.
      this.#scopes = [];
      return scopes;
    };
    this.#highlighter.configure({
      __emitter: class extends PaintingEmitter {
        constructor() {
          super(begin());
        }
      },
    });
  }

  /** Null for a language that is not known. */
  painter(info: string): CodePainter | null {
    const name = languageName.exec(info)?.[1]?.toLowerCase() ?? '';
    if (this.#highlighter.getLanguage(name) === undefined) return null;
    let open: Mode | null = null;
    return {
      line: (text) => {
        const result = this.#read(name, open, text);
        open = result.open;
        return result.text;
      },
    };
  }

  #read(
    name: string,
    open: Mode | null,
    text: string,
  ): { readonly text: string; readonly open: Mode | null } {
    const language = open === null ? name : this.#goingOn(name, open);
    this.#scopes = open === null ? [] : scopesOf(open);
    const result = this.#highlighter.highlight(`${text}\n`, { language, ignoreIllegals: true });
    const emitter = result._emitter as unknown as PaintingEmitter;
    // What is shown has to be what was said, whatever a grammar makes of it.
    if (result.errorRaised !== undefined || emitter.length !== text.length + 1) return { text, open: null };
    const last = (result._top ?? null) as Mode | null;
    const top = last === null ? null : (this.#continued.get(last) ?? last);
    return { text: emitter.painted, open: top?.parent === undefined || depthOf(top) > deepest ? null : top };
  }

  /**
   * highlight.js goes on with an open construct only for a language inside another. A construct is compiled as a language is,
   * so it can stand as one; what a language has besides, it is given.
   */
  #goingOn(name: string, open: Mode): string {
    const language = this.#highlighter.getLanguage(name);
    const going = `${name} going on`;
    const continuation = Object.assign(Object.create(open) as Language, {
      name: going,
      case_insensitive: language?.case_insensitive ?? false,
      classNameAliases: language?.classNameAliases ?? {},
      aliases: [],
    });
    this.#continued.set(continuation as Mode, open);
    this.#highlighter.registerLanguage(going, () => continuation);
    return going;
  }
}

/** Paints as it is told, where highlight.js makes a tree for HTML. */
class PaintingEmitter implements Emitter {
  painted = '';
  length = 0;
  readonly #scopes: string[];

  constructor(scopes: readonly string[]) {
    this.#scopes = [...scopes];
  }

  addText(text: string): void {
    this.length += text.length;
    const codes = this.#scopes.map(codesOf).findLast((one) => one !== '') ?? '';
    this.painted += painted(text.replaceAll('\n', ''), codes);
  }

  startScope(scope: string): void {
    this.#scopes.push(scope);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: Emitter): void {
    const { painted: text, length } = emitter as PaintingEmitter;
    this.painted += text;
    this.length += length;
  }

  finalize(): void {}

  toHTML(): string {
    return '';
  }
}

function codesOf(scope: string): string {
  return scopeCodes[scope] ?? scopeCodes[scope.split('.')[0] ?? ''] ?? '';
}

function scopesOf(open: Mode): readonly string[] {
  const scopes: string[] = [];
  for (let mode: Mode | undefined = open; mode?.parent !== undefined; mode = mode.parent) {
    if (typeof mode.scope === 'string') scopes.unshift(mode.scope);
  }
  return scopes;
}

function depthOf(open: Mode): number {
  let depth = 0;
  for (let mode: Mode | undefined = open; mode !== undefined; mode = mode.parent) depth += 1;
  return depth;
}

/** The one there is: a grammar takes tens of milliseconds to be made ready, and serves every reply of the process. */
export const highlighting = new Highlighting();
