// The body of a template: text with variables, `{{name}}` or `{{name:default}}`. Variables are expanded once, so a `{{` in a value stays as
// it is. The functions are pure.

/** The variable for the input of the user: words, files and stdin. */
export const inputVariable = 'input';

export interface TemplateVariable {
  readonly name: string;
  /** The default value. Null if a value is required. */
  readonly default: string | null;
  /** The line of the variable in the body, from 0. */
  readonly line: number;
}

/** Texts and variables, in order. */
export type TemplateBody = readonly (string | TemplateVariable)[];

/** A `{{` that does not begin a variable. */
export class BodyFault extends Error {
  override readonly name = 'BodyFault';
  /** The line of the body, from 0. */
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/** `\{{` is a literal `{{`. Any other `{{` begins a variable. */
const marks = /(\\\{\{)|\{\{[ \t]*([A-Za-z_][\w-]*)[ \t]*(?::([^\n]*?))?\}\}|\{\{/g;

/** Throws a {@link BodyFault} for the first `{{` that does not begin a variable. */
export function parseTemplateBody(text: string): TemplateBody {
  const parts: (string | TemplateVariable)[] = [];
  let end = 0;
  let line = 0;
  for (const found of text.matchAll(marks)) {
    const [all, escaped, name, given] = found;
    const before = text.slice(end, found.index);
    line += before.split('\n').length - 1;
    end = found.index + all.length;
    parts.push(before);
    if (escaped !== undefined) parts.push('{{');
    else if (name !== undefined) parts.push({ name, default: given?.trim() ?? null, line });
    else throw new BodyFault(line, 'this {{ does not begin a variable');
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

/** The variables of a body, each name once. If a name has several defaults, the first one counts. */
export function variablesOf(body: TemplateBody): readonly TemplateVariable[] {
  const byName = new Map<string, TemplateVariable>();
  for (const part of body) {
    if (typeof part === 'string') continue;
    const before = byName.get(part.name);
    if (before === undefined || (before.default === null && part.default !== null))
      byName.set(part.name, part);
  }
  return [...byName.values()];
}

/** The text of a filled body, or the first variable without a value. */
export type FilledBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing'; readonly variable: TemplateVariable };

/** Fills the body. If it has no variable for the input, the input follows it after a blank line. `input` is null if there is none. */
export function fillTemplateBody(
  body: TemplateBody,
  values: ReadonlyMap<string, string>,
  input: string | null,
): FilledBody {
  const variables = new Map(variablesOf(body).map((variable) => [variable.name, variable]));
  const valueFor = (name: string) =>
    (name === inputVariable ? input : values.get(name)) ?? variables.get(name)?.default ?? null;
  const missing = [...variables.values()].find(({ name }) => valueFor(name) === null);
  if (missing !== undefined) return { kind: 'missing', variable: missing };
  const text = body.map((part) => (typeof part === 'string' ? part : valueFor(part.name))).join('');
  if (input === null || variables.has(inputVariable)) return { kind: 'text', text };
  return { kind: 'text', text: text === '' ? input : `${text}\n\n${input}` };
}
