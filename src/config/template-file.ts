// Reads the text of a template: YAML front matter with settings, then the body. A fault names the file, the line and the field.
import { isDeepStrictEqual } from 'node:util';
import { ParleyError } from '../service/errors.ts';
import type { JsonValue } from '../service/mode-settings.ts';
import { BodyFault, parseTemplateBody, type TemplateBody } from './template-body.ts';
import { parseYaml, type YamlDocument } from './yaml-document.ts';

export interface Template {
  readonly name: string;
  readonly path: string;
  readonly mode: string | null;
  readonly system: string | null;
  readonly parameters: Readonly<Record<string, JsonValue>>;
  /** The path of a file with a JSON Schema, as it is written in the template. */
  readonly schema: string | null;
  readonly title: string | null;
  readonly body: TemplateBody;
}

type Settings = Omit<Template, 'name' | 'path' | 'body'>;

/** A fault of one field. `path` holds the names from the top to the field. */
class FieldFault extends Error {
  override readonly name = 'FieldFault';
  readonly path: readonly string[];
  readonly hint: string;

  constructor(path: readonly string[], problem: string, hint = '') {
    super(problem);
    this.path = path;
    this.hint = hint;
  }
}

type FieldReader<T> = (value: unknown, field: string) => T;

const readers: { readonly [Field in keyof Settings]: FieldReader<Settings[Field]> } = {
  mode: filledText,
  system: filledText,
  parameters: readParameters,
  schema: filledText,
  title: filledText,
};

const fieldNames = Object.keys(readers) as readonly (keyof Settings)[];

/** A fault of the file, with its line. */
class FileFault extends Error {
  override readonly name = 'FileFault';
  readonly line: number;
  readonly field: string;
  readonly hint: string;

  constructor(line: number, problem: string, { field = '', hint = '' } = {}) {
    super(problem);
    this.line = line;
    this.field = field;
    this.hint = hint;
  }
}

/** Rejects with `CONFIG` for the first fault. */
export async function readTemplate(name: string, path: string, file: string): Promise<Template> {
  try {
    const { frontMatter, body, bodyLine } = partsOf(file.replace(/^\ufeff/, ''));
    const settings = frontMatter === null ? emptySettings : await readSettings(frontMatter);
    return { name, path, ...settings, body: readBody(body, bodyLine) };
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    const { line, field, hint, message } = error;
    throw new ParleyError('CONFIG', `${path}, line ${line}: ${message}.`, {
      hint,
      remedy: { kind: 'mend_template', name },
      details: [{ field, problem: message }],
    });
  }
}

function readBody(text: string, firstLine: number): TemplateBody {
  try {
    return parseTemplateBody(text);
  } catch (error) {
    if (!(error instanceof BodyFault)) throw error;
    const hint = 'Write a variable as {{name}} or {{name:default}}, and a literal {{ as \\{{.';
    throw new FileFault(firstLine + error.line, error.message, { hint });
  }
}

const emptySettings: Settings = { mode: null, system: null, parameters: {}, schema: null, title: null };

interface Parts {
  readonly frontMatter: string | null;
  readonly body: string;
  /** The number of the body's first line in the file. */
  readonly bodyLine: number;
}

/** Splits a file into settings and body. Blank lines before the body and newlines after it are not part of the message. */
function partsOf(text: string): Parts {
  const opening = /^---[ \t]*\r?\n/.exec(text)?.[0];
  if (opening === undefined) return { frontMatter: null, ...bodyOf(text, 1) };
  const rest = text.slice(opening.length);
  const closing = /^---[ \t]*(\r?\n|$)/m.exec(rest);
  if (closing === null) {
    throw new FileFault(1, 'the settings that begin here are not closed', {
      hint: 'End them with a line of three hyphens (---), before the text of the message.',
    });
  }
  const frontMatter = rest.slice(0, closing.index);
  const line = 2 + linesIn(frontMatter) + 1;
  return { frontMatter, ...bodyOf(rest.slice(closing.index + closing[0].length), line) };
}

function bodyOf(text: string, line: number): Pick<Parts, 'body' | 'bodyLine'> {
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text)?.[0] ?? '';
  let end = text.length;
  while (end > blank.length && /[\r\n]/.test(text.charAt(end - 1))) end--;
  return { body: text.slice(blank.length, end), bodyLine: line + linesIn(blank) };
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

async function readSettings(frontMatter: string): Promise<Settings> {
  const document = await parseYaml(frontMatter);
  // The settings begin on the second line of the file.
  if (document.error !== null) throw new FileFault(document.error.line + 1, document.error.message);
  try {
    const fields = mappingOf(readValue(document), []);
    const unknown = Object.keys(fields).find((field) => !fieldNames.some((name) => name === field));
    if (unknown !== undefined)
      throw new FieldFault(
        [unknown],
        'is not a setting of a template',
        `Settings: ${fieldNames.join(', ')}.`,
      );
    const read = <Field extends keyof Settings>(field: Field) => readers[field](fields[field], field);
    return {
      mode: read('mode'),
      system: read('system'),
      parameters: read('parameters'),
      schema: read('schema'),
      title: read('title'),
    };
  } catch (found) {
    if (!(found instanceof FieldFault)) throw found;
    const field = found.path.join('.');
    const problem = `${field} ${found.message}`.trim();
    throw new FileFault(document.lineOf(found.path) + 1, problem, { field, hint: found.hint });
  }
}

function readValue(document: YamlDocument): unknown {
  try {
    return document.value() ?? {};
  } catch {
    throw new FieldFault([], 'the settings have too many aliases, or are nested too deeply');
  }
}

function mappingOf(value: unknown, path: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new FieldFault(
    path,
    path.length === 0 ? 'the settings are not names with values' : 'must be names with values',
  );
}

function filledText(value: unknown, field: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new FieldFault([field], 'must be a text that is not empty');
}

/** The service checks the names. YAML has values that JSON cannot represent, such as dates and infinities. */
function readParameters(value: unknown, field: string): Readonly<Record<string, JsonValue>> {
  if (value === undefined || value === null) return {};
  const parameters = mappingOf(value, [field]);
  for (const [name, inner] of Object.entries(parameters)) {
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(inner) ?? 'null'), inner))
      throw new FieldFault([field, name], 'holds a value that JSON cannot hold');
  }
  return parameters as Readonly<Record<string, JsonValue>>;
}
