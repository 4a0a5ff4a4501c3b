// The dialogue of the mode `eliza`. In a file of its own, so that only who talks to it loads the script.
import { colleagueScript } from './colleague-script.ts';
import { Dialogue } from './dialogue.ts';

export function colleague(): Dialogue {
  return new Dialogue(colleagueScript);
}
