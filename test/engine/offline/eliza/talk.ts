// A conversation with a script of a test. The parts that the test leaves out are empty.
import { Dialogue } from '../../../../src/engine/offline/eliza/dialogue.ts';
import type { Script } from '../../../../src/engine/offline/eliza/script.ts';

const blank: Script = {
  keywords: {},
  none: ['0', 'Go on.'],
  memory: { keyword: '', extracts: [] },
  facts: {},
  classes: {},
  spelling: {},
  reflection: {},
};

/** The replies of a new dialogue over this script to the messages, in turn. */
export function talk(script: Partial<Script>, ...messages: readonly string[]): readonly string[] {
  const dialogue = new Dialogue({ ...blank, ...script });
  return messages.map((message) => dialogue.respond(message));
}
