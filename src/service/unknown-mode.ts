// The failure for an unknown mode. The name may have any length, so the message quotes only its beginning.
import { ParleyError } from './errors.ts';
import { quoted } from './quoted.ts';

export function unknownMode(name: string, modes: readonly string[]): ParleyError {
  return new ParleyError('UNKNOWN_MODE', `There is no mode ${quoted(name)}.`, {
    hint: `Modes: ${modes.join(', ')}.`,
    details: [{ field: 'mode', problem: 'names no mode' }],
  });
}
