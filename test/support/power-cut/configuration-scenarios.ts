// Commands that change the configuration. The configuration is never unreadable, whenever the power is cut.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expected, type Scenario } from './scenario.ts';

const modelFlags = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'];
const addition = ['modes', 'add', 'one', ...modelFlags];

interface Change {
  readonly words: readonly string[];
  readonly before?: readonly (readonly string[])[];
  /** The command that is run afterwards, and its output. */
  readonly asked: readonly string[];
  readonly answer: RegExp;
}

function changing({ words, before = [], asked, answer }: Change): Scenario {
  return {
    name: words.slice(0, 3).join(' '),
    async prepare(place) {
      for (const earlier of before) await place.output(earlier);
      return { words };
    },
    faults: (place, { ended }) => expected(place, asked, 'it is lost', (out) => !ended || answer.test(out)),
  };
}

function login(): Scenario {
  return {
    name: 'login',
    async prepare() {
      const server = createServer((request, response) => {
        const data = request.url === '/v1/models' ? ['m'] : {};
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ success: true, data }));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      server.unref();
      const { port } = server.address() as AddressInfo;
      const words = ['login', '--url', `http://127.0.0.1:${port}`, '--profile', 'there', '--key-stdin'];
      return { words, stdin: 'a-key\n' };
    },
    faults: (place, { ended }) =>
      expected(
        place,
        ['profiles', 'list', '--json'],
        'the key is lost',
        (out) => !ended || out.includes('"there"'),
      ),
  };
}

export const configurationScenarios: readonly Scenario[] = [
  changing({
    words: [...addition, '--default'],
    asked: ['modes', 'list', '--json'],
    answer: /"one"/,
  }),
  changing({
    words: ['modes', 'default', 'one'],
    before: [addition],
    asked: ['models'],
    answer: /^\*\tone\t/,
  }),
  changing({
    words: ['modes', 'set', 'one', '--model', 'other'],
    before: [addition],
    asked: ['modes', 'show', 'one', '--json'],
    answer: /"other"/,
  }),
  changing({
    words: ['modes', 'remove', 'one'],
    before: [addition],
    asked: ['modes', 'list', '--json'],
    answer: /^(?!.*"one")/s,
  }),
  changing({
    words: ['keys', 'create', '--use', '--project', 'another'],
    before: [['chat', '-n', '--mode', 'echo', 'before']],
    asked: ['verify', '--json'],
    answer: /"another"/,
  }),
  login(),
];
