// Reads a server's list of modes, in several shapes.
import { fieldOf, firstText, textOrNull } from '../http/foreign-json.ts';
import type { Mode } from '../service/mode.ts';

/** Null if the body has no list, or no entry has a name. A field that the server does not send is empty. */
export function modesOf(body: unknown): readonly Mode[] | null {
  const data = fieldOf(body, 'data');
  const places = [
    data,
    fieldOf(data, 'models'),
    fieldOf(data, 'modes'),
    fieldOf(body, 'models'),
    fieldOf(body, 'modes'),
  ];
  const list: readonly unknown[] | undefined = places.find(Array.isArray);
  if (list === undefined) return null;
  const modes = list.flatMap((entry) => {
    const name = firstText(entry, fieldOf(entry, 'name'), fieldOf(entry, 'id'), fieldOf(entry, 'mode'));
    return name === null ? [] : [modeOf(name, entry)];
  });
  return modes.length === 0 && list.length > 0 ? null : modes;
}

function modeOf(name: string, entry: unknown): Mode {
  return {
    name,
    description: textOrNull(fieldOf(entry, 'description')) ?? '',
    engine: textOrNull(fieldOf(entry, 'engine')) ?? '',
    model: textOrNull(fieldOf(entry, 'model')),
    default: fieldOf(entry, 'default') === true,
  };
}
