// The failure for a mode that does not exist. The name that was given may be of any length: its beginning says which was meant.
import { ParleyError } from './errors.ts';

const mostCharacters = 64;

export function unknownMode(name: string, modes: readonly string[]): ParleyError {
  // A code point takes two units at most.
  const characters = [...name.slice(0, 2 * mostCharacters + 2)];
  const isLong = characters.length > mostCharacters;
  const shown = isLong ? `${characters.slice(0, mostCharacters).join('')}…` : name;
  return new ParleyError('UNKNOWN_MODE', `There is no mode ${JSON.stringify(shown)}.`, {
    hint: `Modes: ${modes.join(', ')}.`,
    details: [{ field: 'mode', problem: 'names no mode' }],
  });
}
