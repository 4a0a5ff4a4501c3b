// The body of a template: text with variables, `{{name}}` or `{{name:default}}`. Values are put in once, so text that comes in is never
// expanded again. The functions are pure.

/** The variable for what the user gives: words, files and stdin. */
export const inputVariable = 'input';

export interface TemplateVariable {
  readonly name: string;
  /** The value where none is given; null if one must be given. */
  readonly default: string | null;
  /** The line of the body where it stands, from 0. */
  readonly line: number;
}

/** Texts and variables, in their order. */
export type TemplateBody = readonly (string | TemplateVariable)[];

/** A `{{` that begins no variable. */
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

/** Throws a {@link BodyFault} for the first `{{` that begins no variable. */
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
    else throw new BodyFault(line, '{{ begins no variable here');
  }
  return [...parts, text.slice(end)].filter((part) => part !== '');
}

/** The variables of a body, each name once. A name has a default if it has one at its first place that gives one. */
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

/** What a filled body says, or the first variable without a value. */
export type FilledBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing'; readonly variable: TemplateVariable };

/** A body without the variable of the input has the input after it, with a blank line between. `input` is null if there is none. */
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
