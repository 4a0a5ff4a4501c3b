// The templates of a user: one file `NAME.md` each, in `templates` of the configuration directory. People may write them by hand.
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import { beginning, quoted } from '../service/quoted.ts';
import { replaceFile } from '../system/atomic-file.ts';
import { readAtMost } from '../system/bounded-file.ts';
import { makePrivateDirectory } from '../system/directories.ts';
import { systemErrorCode } from '../system/file-errors.ts';
import { fileFailure } from '../system/file-failure.ts';
import { readTemplate, type Template } from './template-file.ts';

const suffix = '.md';
/** A message has at most 1 MiB, and the settings are short. */
const maxBytes = 2 * 1024 * 1024;
const remedy = 'Check the file and its permissions.';

/** True for a name that is a safe file name on every system. */
function isTemplateName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** A template in a listing: the template, or the problem with its file. */
export interface ListedTemplate {
  readonly name: string;
  readonly template: Template | null;
  /** Null for a template that can be used. */
  readonly problem: string | null;
}

export class TemplateDirectory {
  readonly #directory: string;

  constructor(configDirectory: string) {
    this.#directory = join(configDirectory, 'templates');
  }

  /** The names in alphabetical order. Files with an invalid name are omitted. */
  names(): readonly string[] {
    try {
      return readdirSync(this.#directory)
        .filter((file) => file.endsWith(suffix))
        .map((file) => file.slice(0, -suffix.length))
        .filter(isTemplateName)
        .sort();
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw fileFailure(error, this.#directory, 'read', remedy);
    }
  }

  async list(signal: AbortSignal): Promise<readonly ListedTemplate[]> {
    const templates: ListedTemplate[] = [];
    for (const name of this.names()) {
      try {
        templates.push({ name, template: await this.read(name, signal), problem: null });
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        templates.push({ name, template: null, problem: error.message });
      }
    }
    return templates;
  }

  /** The path of the file, whether or not it exists. Throws `USAGE` for an invalid name. */
  path(name: string): string {
    if (isTemplateName(name)) return join(this.#directory, name + suffix);
    throw new ParleyError('USAGE', `${quoted(name)} is not a valid template name.`, {
      hint: 'Use 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or a digit.',
    });
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** The whole text of the file. Rejects with `USAGE` if there is no such template, and with `CONFIG` if it cannot be read. */
  async text(name: string, signal: AbortSignal): Promise<string> {
    const path = this.path(name);
    let bytes: Uint8Array;
    try {
      bytes = await readAtMost(path, maxBytes, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (systemErrorCode(error) === 'ENOENT') throw this.#unknown(name);
      throw fileFailure(error, path, 'read', remedy);
    }
    const text = decodeText(bytes);
    if (text !== null) return text;
    throw new ParleyError('CONFIG', `${path} is not text: it contains NUL bytes or is not UTF-8.`, {
      hint: remedy,
    });
  }

  /** Rejects as `text` does, and with `CONFIG` for a fault in the file. */
  async read(name: string, signal: AbortSignal): Promise<Template> {
    return readTemplate(name, this.path(name), await this.text(name, signal));
  }

  /** Creates or replaces the file. */
  write(name: string, text: string): void {
    const path = this.path(name);
    try {
      makePrivateDirectory(this.#directory);
      // A link stays a link, because users may keep the file elsewhere.
      replaceFile(existsSync(path) ? realpathSync(path) : path, text, { durable: true });
    } catch (error) {
      throw fileFailure(error, path, 'written', remedy);
    }
  }

  remove(name: string): void {
    const path = this.path(name);
    try {
      rmSync(path);
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') throw this.#unknown(name);
      throw fileFailure(error, path, 'written', remedy);
    }
  }

  #unknown(name: string): ParleyError {
    const names = this.names();
    const known = names.length === 0 ? 'There are no templates yet.' : `Templates: ${names.join(', ')}.`;
    return new ParleyError('USAGE', `There is no template ${beginning(name)}.`, {
      hint: known,
      remedy: { kind: 'make_template', name },
    });
  }
}

function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
