// A file of modes for `serve --modes`: YAML, or JSON, which is YAML too. A fault names file, line and field.
import { readFileSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';
import type { ModeBook } from '../service/mode-settings.ts';
import { ModeFault, modeFailure, readModeBook } from './mode-settings.ts';
import { fileFailure } from './private-file.ts';

const names = { modes: 'modes', default: 'default' };
const hint = 'It holds `modes:`, each with base_url and model, and perhaps `default:`. See the README.';

export async function readModesFile(path: string): Promise<ModeBook> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileFailure(error, path, 'read', 'Name a file that you may read: --modes FILE');
  }
  const { LineCounter, parseDocument } = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw new ParleyError('CONFIG', `${path}, line ${line}: ${error.message}.`, { hint });
  }
  try {
    const value: object = document.toJS({ maxAliasCount: 100 }) ?? {};
    for (const field of Object.keys(value)) {
      if (!Object.values(names).includes(field)) throw new ModeFault([field], 'is not known here', hint);
    }
    return readModeBook(value, names);
  } catch (fault) {
    if (!(fault instanceof ModeFault)) throw fault;
    throw modeFailure(fault, 'CONFIG', `${path}, line ${lineOf(fault.path)}`);
  }

  /** Of the field, or of the nearest thing around it that is there. */
  function lineOf(fieldPath: readonly string[]): number {
    for (let length = fieldPath.length; length > 0; length -= 1) {
      const node = document.getIn(fieldPath.slice(0, length), true) as { range?: [number] } | undefined;
      if (node?.range) return lineCounter.linePos(node.range[0]).line;
    }
    return 1;
  }
}
