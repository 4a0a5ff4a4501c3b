// Reads a file of modes for `serve --modes`. The file is YAML, which includes JSON. A fault names the file, the line and the field.
import { dirname } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import type { ModeConfig } from '../service/mode-settings.ts';
import { readAtMost } from '../system/bounded-file.ts';
import { fileFailure } from '../system/file-failure.ts';
import { readModeConfig } from './mode-config.ts';
import { checkSystemPromptFits, ModeFault, modeFailure } from './mode-validation.ts';
import { resolveKeyPath } from './resolve-key-path.ts';

const names = { modes: 'modes', default: 'default' };
const hint =
  'It must have `modes:`, each with base_url and model, and may have `default:`. See docs/models.md.';
const maxBytes = 8 * 1024 * 1024;

/** Rejects with `CONFIG` for a file that cannot be read, and for the first fault in it. */
export async function readModesFile(path: string, signal: AbortSignal): Promise<ModeConfig> {
  let text: string;
  try {
    text = new TextDecoder().decode(await readAtMost(path, maxBytes, signal));
  } catch (error) {
    signal.throwIfAborted();
    throw fileFailure(error, path, 'read', 'Name a file that you may read.');
  }
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw new ParleyError('CONFIG', `${path}, line ${line}: ${sentence(error)}.`, { hint });
  }
  try {
    const value: unknown = toValue() ?? {};
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ModeFault([], 'contains no modes', hint);
    }
    for (const field of Object.keys(value)) {
      if (!Object.values(names).includes(field))
        throw new ModeFault([field], 'is not a field of a file of modes', hint);
    }
    const modeConfig = readModeConfig(withResolvedKeyPaths(value, dirname(path)), names, (fault) => {
      throw fault;
    });
    for (const mode of modeConfig.modes) checkSystemPromptFits(mode, [names.modes, mode.name]);
    // A file without modes would remove all modes of a running server. Some editors empty a file before they write it again.
    if (modeConfig.modes.length === 0) throw new ModeFault([], 'contains no modes', hint);
    return { ...modeConfig, faulty: [] };
  } catch (fault) {
    if (!(fault instanceof ModeFault)) throw fault;
    throw modeFailure(fault, 'CONFIG', `${path}, line ${lineOf(fault.path)}`);
  }

  /** Aliases of aliases can grow without bounds, so their number is limited. */
  function toValue(): unknown {
    try {
      return document.toJS({ maxAliasCount: 100 });
    } catch (cause) {
      const problem = cause instanceof RangeError ? 'is nested too deeply' : 'has too many aliases';
      throw new ModeFault([], problem, hint);
    }
  }

  /** The line of the field, or of the nearest field around it that exists. */
  function lineOf(fieldPath: readonly string[]): number {
    for (let length = fieldPath.length; length > 0; length -= 1) {
      const node = document.getIn(fieldPath.slice(0, length), true) as { range?: [number] } | undefined;
      if (node?.range) return lineCounter.linePos(node.range[0]).line;
    }
    return 1;
  }
}

/** Resolves the paths of key files from the directory of this file. */
function withResolvedKeyPaths(modeConfig: object, directory: string): object {
  const { modes } = modeConfig as { modes?: unknown };
  if (typeof modes !== 'object' || modes === null || Array.isArray(modes)) return modeConfig;
  const resolved = Object.entries(modes).map(([name, mode]: readonly [string, unknown]) => {
    const key = typeof mode === 'object' && mode !== null ? (mode as { key?: unknown }).key : null;
    return [
      name,
      typeof key === 'string' ? { ...(mode as object), key: resolveKeyPath(key, directory) } : mode,
    ];
  });
  return { ...modeConfig, modes: Object.fromEntries(resolved) };
}

/** The parser's message, in words for people who do not know the parser. */
function sentence({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS')
    return 'a second document begins here, but a file of modes must have only one';
  return message.includes('call stack') ? 'is nested too deeply' : message;
}
