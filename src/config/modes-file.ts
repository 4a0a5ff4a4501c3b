// Reads a file of modes for `serve --modes`. The file is YAML, which includes JSON. A fault names the file, the line and the field.
import { dirname } from 'node:path';
import { ParleyError } from '../service/errors.ts';
import type { ModeConfig } from '../service/mode-settings.ts';
import { readAtMost } from '../system/bounded-file.ts';
import { fileFailure } from '../system/file-failure.ts';
import { readModeConfig } from './mode-config.ts';
import { checkSystemPromptFits, ModeFault, modeFailure } from './mode-validation.ts';
import { resolveKeyPath } from './resolve-key-path.ts';
import { parseYaml, type YamlDocument } from './yaml-document.ts';

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
  const document = await parseYaml(text);
  if (document.error !== null) {
    const { line } = document.error;
    throw new ParleyError('CONFIG', `${path}, line ${line}: ${sentence(document.error)}.`, { hint });
  }
  try {
    return modeConfigOf(readValue(document), dirname(path));
  } catch (fault) {
    if (!(fault instanceof ModeFault)) throw fault;
    const line = fault.path.length === 0 ? 1 : document.lineOf(fault.path);
    const failure = modeFailure(fault, 'CONFIG', `${path}, line ${line}`);
    if (fault.remedy?.kind !== 'choose_default_mode') throw failure;
    // The command for the default changes the configuration of this machine.
    const advice = 'Name one of its modes or a built-in one, or remove the line.';
    throw failure.with({ hint: advice, remedy: null });
  }
}

function readValue(document: YamlDocument): object {
  const value = toValue() ?? {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new ModeFault([], 'contains no modes', hint);

  function toValue(): unknown {
    try {
      return document.value();
    } catch (cause) {
      const problem = cause instanceof RangeError ? 'is nested too deeply' : 'has too many aliases';
      throw new ModeFault([], problem, hint);
    }
  }
}

/** Key files are resolved from `directory`. Throws a {@link ModeFault} for the first fault. */
function modeConfigOf(value: object, directory: string): ModeConfig {
  for (const field of Object.keys(value)) {
    if (!Object.values(names).includes(field))
      throw new ModeFault([field], 'is not a field of a file of modes', hint);
  }
  const modeConfig = readModeConfig(withResolvedKeyPaths(value, directory), names, (fault) => {
    throw fault;
  });
  for (const mode of modeConfig.modes) checkSystemPromptFits(mode, [names.modes, mode.name]);
  // A file without modes would remove all modes of a running server. Some editors empty a file before they write it again.
  if (modeConfig.modes.length === 0) throw new ModeFault([], 'contains no modes', hint);
  return { ...modeConfig, faulty: [] };
}

/** Resolves the paths of key files from the directory of this file. */
function withResolvedKeyPaths(modeConfig: object, directory: string): object {
  const modes = 'modes' in modeConfig ? modeConfig.modes : null;
  if (typeof modes !== 'object' || modes === null || Array.isArray(modes)) return modeConfig;
  const resolved = Object.entries(modes).map(([name, mode]: readonly [string, unknown]) => {
    if (typeof mode !== 'object' || mode === null || !('key' in mode)) return [name, mode];
    const { key } = mode;
    return [name, typeof key === 'string' ? { ...mode, key: resolveKeyPath(key, directory) } : mode];
  });
  return { ...modeConfig, modes: Object.fromEntries(resolved) };
}

/** The parser's message, in words for people who do not know the parser. */
function sentence({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === 'MULTIPLE_DOCS')
    return 'a second document begins here, but a file of modes must have only one';
  return message.includes('call stack') ? 'is nested too deeply' : message;
}
