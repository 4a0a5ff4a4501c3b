// The failure for a mode that does not exist. The given name may have any length, so the message quotes only its beginning.
import { ParleyError } from './errors.ts';

const mostCharacters = 64;

export function unknownMode(name: string, modes: readonly string[]): ParleyError {
  // A code point has two UTF-16 units at most.
  const characters = [...name.slice(0, 2 * mostCharacters + 2)];
  const isLong = characters.length > mostCharacters;
  const shown = isLong ? `${characters.slice(0, mostCharacters).join('')}…` : name;
  return new ParleyError('UNKNOWN_MODE', `There is no mode ${JSON.stringify(shown)}.`, {
    hint: `Modes: ${modes.join(', ')}.`,
    details: [{ field: 'mode', problem: 'names no mode' }],
  });
}
