// Chats. A message is stored when its session was reported, a reply when its end was. The current session is not guaranteed: it is this one, the
// one before, or none.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { echo, expected, type Scenario, useOnce } from './scenario.ts';

interface Line {
  readonly event: string;
  readonly data: { readonly session_id: string };
}

function chat(name: string, before: readonly (readonly string[])[]): Scenario {
  const message = 'remembered';
  return {
    name,
    async prepare(place) {
      for (const words of before) await place.output(words);
      return { words: [...echo, '--json-stream', message] };
    },
    async faults(place, { out }) {
      const events: readonly Line[] = wholeLines(out).map((line) => JSON.parse(line));
      const session = events.find(({ event }) => event === 'session')?.data.session_id;
      if (session === undefined) return expected(place, [...echo, 'next']);
      const least = events.some(({ event }) => event === 'done') ? 2 : 1;
      const faults = [
        ...(await expected(
          place,
          ['sessions', 'messages', session, '--json'],
          'a message is lost',
          (text) => text.split(message).length > least,
        )),
      ];
      const next = await place.parley([...echo, '-c', 'next']);
      const isNone = next.status === 2 && next.err.includes('no session to continue');
      if (next.status !== 0 && !isNone) faults.push(`chat -c ends with ${next.status}: ${next.err}`);
      return [...faults, ...(await expected(place, [...echo, 'next']))];
    },
  };
}

const resumed = ['chat', '--mode', 'echo', '--batch', '--resume', 'results'];

/** A batch that resumes in a file of results: if the command has ended, all its results are in the file. */
function resumedBatch(): Scenario {
  return {
    name: 'chat --batch --resume',
    async prepare(place) {
      await useOnce(place);
      return { words: resumed, stdin: 'one\ntwo\nthree\n' };
    },
    async faults(place, { ended }) {
      const file = join(place.path, 'results');
      const results = existsSync(file) ? wholeLines(readFileSync(file, 'utf8')) : [];
      const next = await place.parley(resumed, {
        stdin: 'one\ntwo\nthree\n',
      });
      const after = wholeLines(readFileSync(file, 'utf8'));
      return [
        ...(ended && results.length < 3 ? [`of 3 results, ${results.length} are left`] : []),
        ...(next.status === 0 && after.length === 3
          ? []
          : [`resumed: ${next.status}, ${after.length}, ${next.err}`]),
      ];
    },
  };
}

function wholeLines(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.endsWith('}'));
}

export const conversationScenarios: readonly Scenario[] = [
  chat('the first chat', []),
  chat('a later chat', [[...echo, 'before']]),
  resumedBatch(),
];
