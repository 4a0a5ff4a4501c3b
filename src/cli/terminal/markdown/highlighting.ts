// Colours code line by line. highlight.js reads one line and reports the construct that is open at its end, and the next line starts in that
// construct. A comment of ten lines is therefore one comment, and each line is read once.
import type { CompiledMode, Emitter, Language } from 'highlight.js';
import { highlighter } from './languages.ts';
import { withSgr } from './theme.ts';

/** Gives a text the colour of a scope: a name of the table below, or null for none. */
type Paint = (text: string, scope: string | null) => string;

export interface CodePainter {
  /** Returns the line in colour. The text has no newline. */
  line(text: string): string;
}

/** SGR codes by scope of highlight.js. `title.function` is looked up first, then `title`. */
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

/** The language in the info string of a fence: `ts title="a.ts"`, or `{.ts}`. */
const languageName = /^\{?\.?([\w+#.-]+)/;

/** Code nested deeper than this starts again without a construct, because the stack must not grow without bound. */
const maxDepth = 200;

/** A construct that is open at the end of a line. The outermost one is the language itself and has no parent. */
type Mode = (CompiledMode | Language) & { readonly parent?: Mode; readonly scope?: unknown };

export class Highlighting {
  /** The open scopes at the start of the next line. The emitter that highlight.js creates next takes them. */
  #scopes: readonly string[] = [];
  /** Paints the current line. */
  #paint: Paint = paint16;
  /** A language made by `#continuation` → its construct. Without this map the prototype chain would grow by one object a line. */
  readonly #continued = new WeakMap<Mode, Mode>();

  constructor() {
    const paint: Paint = (text, scope) => this.#paint(text, scope);
    const begin = () => {
      const scopes = this.#scopes;
      // The emitters of embedded languages are created during the same line and start without scopes.
      this.#scopes = [];
      return scopes;
    };
    highlighter.configure({
      __emitter: class extends PaintingEmitter {
        constructor() {
          super(begin(), paint);
        }
      },
    });
  }

  /** Null for an unknown language. */
  painter(info: string, paint: Paint = paint16): CodePainter | null {
    const name = languageName.exec(info)?.[1]?.toLowerCase() ?? '';
    if (highlighter.getLanguage(name) === undefined) return null;
    let open: Mode | null = null;
    return {
      line: (text) => {
        this.#paint = paint;
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
    const language = open === null ? name : this.#continuation(name, open);
    this.#scopes = open === null ? [] : scopesOf(open);
    const result = highlighter.highlight(`${text}\n`, { language, ignoreIllegals: true });
    const emitter = result._emitter as unknown as PaintingEmitter;
    // The text is shown as it is if a grammar failed or lost a character.
    if (result.errorRaised !== undefined || emitter.length !== text.length + 1)
      return { text: this.#paint(text, null), open: null };
    const last = (result._top ?? null) as Mode | null;
    const top = last === null ? null : (this.#continued.get(last) ?? last);
    return { text: emitter.painted, open: top?.parent === undefined || depthOf(top) > maxDepth ? null : top };
  }

  /**
   * Registers an open construct as a language, because highlight.js continues an open construct only for embedded languages. A
   * construct is compiled like a language; only the properties set here are missing.
   */
  #continuation(name: string, open: Mode): string {
    const language = highlighter.getLanguage(name);
    const continuedName = `${name} (continued)`;
    const continuation = Object.assign(Object.create(open) as Language, {
      name: continuedName,
      case_insensitive: language?.case_insensitive ?? false,
      classNameAliases: language?.classNameAliases ?? {},
      aliases: [],
    });
    this.#continued.set(continuation as Mode, open);
    highlighter.registerLanguage(continuedName, () => continuation);
    return continuedName;
  }
}

/** Replaces the emitter of highlight.js, which builds a tree for HTML, by one that paints each text at once. */
class PaintingEmitter implements Emitter {
  painted = '';
  length = 0;
  readonly #scopes: string[];
  readonly #paint: Paint;

  constructor(scopes: readonly string[], paint: Paint) {
    this.#scopes = [...scopes];
    this.#paint = paint;
  }

  addText(text: string): void {
    this.length += text.length;
    const scope = this.#scopes.map(knownScope).findLast((one) => one !== null) ?? null;
    this.painted += this.#paint(text.replaceAll('\n', ''), scope);
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

/** The name in the table from which a scope gets its colour. */
function knownScope(scope: string): string | null {
  return [scope, scope.split('.')[0] ?? ''].find((name) => Object.hasOwn(scopeCodes, name)) ?? null;
}

function paint16(text: string, scope: string | null): string {
  return withSgr(text, scope === null ? '' : (scopeCodes[scope] ?? ''));
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

/** One instance serves every reply of the process, because compiling a grammar takes tens of milliseconds. */
export const highlighting = new Highlighting();
