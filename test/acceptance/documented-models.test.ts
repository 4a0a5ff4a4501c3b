// The commands of docs/models.md are run line by line, without a model server: each line that adds a mode must succeed, and a chat must say what
// is missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { ModeRecord } from '../../src/service/mode-settings.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';

const section = readFileSync(fileURLToPath(new URL('../../docs/models.md', import.meta.url)), 'utf8');
const block = (language: string) =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(section)?.[1] ?? '';

const newPlace = () => removeAfterTest(new PlaceInProcess());

test('every line that adds a mode adds the mode that it names', async () => {
  const place = newPlace();
  const lines = section.split('\n').filter((line) => line.startsWith('parley modes add'));
  expect(lines.length).toBeGreaterThanOrEqual(10);
  // Each command looks for its server, so the commands wait at the same time.
  const outcomes = await Promise.all(lines.map(async (line) => ({ line, ...(await place.shell(line)) })));
  for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 0 });
  const modes = await place.answer<readonly ModeRecord[]>(['modes', 'list']);
  const made = modes.flatMap(({ name, settings }) => (settings === null ? [] : [[name, settings] as const]));
  expect(made).toHaveLength(lines.length);
  for (const [name, { base_url, model, key }] of made) {
    const words = `parley modes add ${name} --base-url ${base_url} --model ${model}`;
    const line = lines.find((one) => one.startsWith(words)) ?? '';
    expect(/--key (\S+)/.exec(line)?.[1] ?? null).toBe(key);
  }
  expect(modes.find((mode) => mode.default)?.name).toBe(/add (\S+) .* --default/.exec(lines.join('\n'))?.[1]);
});

test('the documented file of modes can be served, and the documented settings can be set', async () => {
  const place = newPlace();
  writeFileSync(join(place.path, 'modes.yaml'), block('yaml'));
  const served = await servePlace(place, ['--modes', join(place.path, 'modes.yaml')]);
  expect((await served.end('SIGTERM')).status).toBe(143);
  await place.output(['modes', 'add', 'NAME', '--base-url', 'http://localhost:9', '--model', 'm']);
  const commands = [...section.matchAll(/`(?:parley )?(modes set NAME [^`]+)`/g)].map(
    ([, words = '']) => words,
  );
  expect(commands.length).toBeGreaterThanOrEqual(2);
  for (const words of commands)
    expect({ words, ...(await place.shell(`parley ${words}`)) }).toMatchObject({ words, status: 0 });
  expect(await place.answer(['modes', 'show', 'NAME'])).toMatchObject({
    ...{ system: 'Be brief.', temperature: 0.2, parameters: { max_tokens: 500, top_p: 0.9 } },
    think_tags: 'open',
  });
});

test.each([
  [11434, 'Ollama: ollama serve'],
  [8080, 'llama.cpp: llama-server -m model.gguf'],
  [1234, 'LM Studio: lms server start'],
])('where nothing listens at port %i, a chat says what to start', async (port, command) => {
  const place = newPlace();
  // The port of this address of the machine is free, whatever listens at the usual one.
  const url = `http://127.88.77.66:${port}/v1`;
  await place.output(['modes', 'add', 'one', '--base-url', url, '--model', 'm', '--default']);
  const { status, err } = await place.parley(['chat', '-n', 'Hello']);
  expect({ status, err }).toEqual({
    status: 6,
    err: expect.stringContaining(`Start the model server there (${command}).`),
  });
  expect(err).toMatch(/^Try again without storing anything twice: parley chat --idempotency-key/m);
});
