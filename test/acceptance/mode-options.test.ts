// The output of `parley modes`: what was changed, what was refused, and what a chat then lacks.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
const address = ['--base-url', 'http://127.0.0.1:1/v1', '--model', 'm'];
const longPrompt = 'word '.repeat(400);
beforeAll(async () => {
  await place.output(['modes', 'add', 'my.mode', ...address]);
  await place.output(['modes', 'add', 'talkative', ...address, '--system', longPrompt]);
});
afterAll(() => place.remove());

test('each change is reported in the same words', async () => {
  const errOf = async (...words: string[]) => (await place.parley(['modes', ...words])).err;
  expect(await errOf('add', 'llama', ...address)).toBe(
    'Added mode llama. Try it: parley chat -m llama "Hello"\n',
  );
  expect(await errOf('set', 'llama', '--temperature', '0.5')).toBe('Changed mode llama.\n');
  expect(await errOf('default', 'llama')).toBe('Mode llama is now the default.\n');
  expect(await errOf('remove', 'llama')).toMatch(
    /^Removed mode llama\.\nIt was the default mode; the default is now eliza/,
  );
});

test('a name that exists is refused, with the command that changes the mode if it can be changed', async () => {
  const own = await place.parley(['modes', 'add', 'my.mode', ...address]);
  expectFailure(own, { status: 2, code: 'USAGE' });
  expect(own.err).toContain('Change it with parley modes set my.mode …');
  const builtIn = await place.parley(['modes', 'add', 'eliza', ...address]);
  expectFailure(builtIn, { status: 2, code: 'USAGE' });
  expect(builtIn.err).toContain('It is built in and cannot be changed. Choose another name.');
});

test('a mode without a server is refused, and the advice names no other mode', async () => {
  const { status, err } = await place.parley(['modes', 'add', 'qwen', '--model', 'qwen3']);
  expect({ status, err }).toEqual({
    status: 2,
    err: 'parley: The mode qwen needs --base-url URL. (USAGE)\nFor Ollama: --base-url http://localhost:11434/v1, and as --model a name that ollama list shows.\n',
  });
});

test('set without an option changes nothing, and says so', async () => {
  const outcome = await place.parley(['modes', 'set', 'my.mode']);
  expectFailure(outcome, { status: 2, code: 'USAGE' });
  expect(outcome.err).toMatch(
    /^parley: No settings were given.*\n.*parley modes set my\.mode --model MODEL\./,
  );
  expect((await place.parley(['modes', 'set', 'gone'])).err).toContain('There is no mode "gone".');
});

test.each([
  [['--context', '50'], '--context must be a whole number from 256 to'],
  [['--temperature', '5.1'], '--temperature must be a number from 0 to 5.'],
  [['--first-token', '0'], '--first-token must be a number from'],
  [['--idle', '0'], '--idle must be a number from'],
  [['--base-url', 'nope'], '--base-url '],
  [['--model', ' '], '--model must be a non-empty text.'],
  [['--key', 'sk-canary'], '--key does not say where the key is.'],
  [['--description', 'a\tb'], '--description contains a control character.'],
  [['--param', 'n=2'], '--param n cannot be set as a parameter.'],
  [['--fallback', 'gone'], '--fallback is not a mode: "gone".'],
  [['--fallback', 'my.mode'], '--fallback leads back to the mode itself.'],
  [['--system', longPrompt, '--context', '300'], '--system has about'],
])('a fault names the option that was typed: %j', async (options, message) => {
  const outcome = await place.parley(['modes', 'set', 'my.mode', ...options]);
  expectFailure(outcome, { status: 2, code: 'USAGE' });
  expect(outcome.err.startsWith(`parley: ${message}`)).toBe(true);
  expect(outcome.err).not.toMatch(/_tokens|_seconds|base_url|canary/);
});

test('the context of a new mode is checked, and so is a new context with the prompt that the mode has already', async () => {
  const added = await place.parley(['modes', 'add', 'new', ...address, '--context', '1']);
  expect(added.err).toMatch(/^parley: --context must be /);
  const { err } = await place.parley(['modes', 'set', 'talkative', '--context', '300']);
  expect(err).toMatch(
    /^parley: The system prompt has about \d+ tokens, .*\nShorten it, or raise --context TOKENS\.\n$/,
  );
});

test.each([
  ['env:ABSENT_KEY', /Set ABSENT_KEY\. Or read the key from elsewhere: parley modes set keyed --key WHERE\n/],
  ['file:/nowhere/key', /Put the key into \/nowhere\/key\. Or read the key from elsewhere: /],
  ['command:false', /Check that the command writes the key to stdout\. Or read the key from elsewhere: /],
])('the error about a missing key at %s says how to provide it', async (key, hint) => {
  await place.parley(['modes', 'remove', 'keyed']);
  await place.output(['modes', 'add', 'keyed', ...address, '--key', key]);
  const outcome = await place.parley(['chat', '-n', '-m', 'keyed', 'hi']);
  expectFailure(outcome, { status: 1, code: 'ENGINE_FAILED' });
  expect(outcome.err).toMatch(hint);
});
