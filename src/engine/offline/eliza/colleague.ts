// Creates the dialogue of the mode `eliza`. This is a separate file, so that the script is loaded only for a chat in this mode.
import { colleagueScript } from './colleague-script.ts';
import { Dialogue } from './dialogue.ts';

export function colleague(): Dialogue {
  return new Dialogue(colleagueScript);
}
