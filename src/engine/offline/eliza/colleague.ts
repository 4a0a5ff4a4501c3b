// The dialogue of the mode `eliza`. It has a file of its own, so that the script is loaded only for a chat in this mode.
import { colleagueScript } from './colleague-script.ts';
import { Dialogue } from './dialogue.ts';

export function colleague(): Dialogue {
  return new Dialogue(colleagueScript);
}
