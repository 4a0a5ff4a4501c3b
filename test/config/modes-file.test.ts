// The file of modes for `serve`: its contents, and the report of a fault in it.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { readModesFile } from '../../src/config/modes-file.ts';
import { defaultModeSettings } from '../../src/service/mode-settings.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { signal } = new AbortController();

function fileOf(text: string): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'modes.yaml'), text);
  return join(directory, 'modes.yaml');
}

const one = { ...defaultModeSettings, name: 'one', base_url: 'https://a.example/v1', model: 'm' };

test.each([
  [
    'YAML',
    `# for all\ndefault: one\nmodes:\n  one:\n    base_url: https://a.example/v1/\n    model: m\n    key: env:A_KEY\n    system: |\n      Be brief.\n      Be kind.\n    parameters:\n      max_tokens: 100\n      stop: [END]\n`,
  ],
  [
    'JSON',
    JSON.stringify({
      default: 'one',
      modes: {
        one: {
          ...{ base_url: 'https://a.example/v1/', model: 'm', key: 'env:A_KEY' },
          ...{ system: 'Be brief.\nBe kind.\n', parameters: { max_tokens: 100, stop: ['END'] } },
        },
      },
    }),
  ],
])('it is %s', async (_form, text) => {
  expect(await readModesFile(fileOf(text), signal)).toEqual({
    default: 'one',
    faulty: [],
    modes: [
      {
        ...one,
        ...{ key: 'env:A_KEY', system: 'Be brief.\nBe kind.\n' },
        parameters: { max_tokens: 100, stop: ['END'] },
      },
    ],
  });
});

test.each(['', '# none yet\n', 'null\n', '{}', 'modes: {}\n', 'modes:\n', 'default: eliza\n'])(
  'a file without a mode, %j, is refused',
  async (text) => {
    const path = fileOf(text);
    await expect(readModesFile(path, signal)).rejects.toMatchObject({
      code: 'CONFIG',
      message: `${path}, line 1: contains no modes.`,
    });
  },
);

test('the path of a key file is relative to the file of modes', async () => {
  const keyOf = async (key: string) => {
    const path = fileOf(`modes:\n  one: {base_url: "https://a.example", model: m, key: "${key}"}\n`);
    return { key: (await readModesFile(path, signal)).modes[0]?.key, directory: dirname(path) };
  };
  const beside = await keyOf('file:keys/a');
  expect(beside.key).toBe(`file:${beside.directory}/keys/a`);
  const above = await keyOf('file:../a');
  expect(above.key).toBe(`file:${dirname(above.directory)}/a`);
  for (const key of ['file:/etc/a', 'file:~/a', 'env:A', 'command:cat a']) {
    expect((await keyOf(key)).key).toBe(key);
  }
});

const base = 'base_url: https://a.example, model: m';
/** Ten aliases of ten aliases, and so on: a short file whose value would fill the memory. */
const bomb = Array.from({ length: 12 }, (_, depth) => {
  const item = depth === 0 ? 'x' : `*a${depth - 1}`;
  return `a${depth}: &a${depth} [${Array(10).fill(item).join(', ')}]\n`;
}).join('');

test.each([
  ['modes:\n  one:\n    model: m\n', 3, 'modes.one.base_url is missing'],
  ['modes:\n  one:\n    base_url: https://a.example\n', 3, 'modes.one.model is missing'],
  [
    'modes:\n  one: {base_url: "https://a.example", model: 3}\n',
    2,
    'modes.one.model must be a non-empty text',
  ],
  [
    'modes: {"one": {"base_url": "https://u:p@a.example",\n "model": "m"}}',
    1,
    'modes.one.base_url contains a user name',
  ],
  [
    'modes:\n  one: {base_url: "http://a.example", model: m}',
    2,
    'modes.one.base_url would send the messages unencrypted to a.example',
  ],
  [
    'modes:\n  one: {base_url: "http://a.example", model: m, key: "env:KEY"}',
    2,
    'modes.one.base_url would send the key unencrypted to a.example',
  ],
  [
    'modes:\n  one: {base_url: "ftp://a.example", model: m}',
    2,
    'modes.one.base_url does not begin with https',
  ],
  [
    `modes:\n  one: {${base}}\n  two:\n    ${base.replace(', ', '\n    ')}\n    temprature: 1`,
    6,
    'modes.two.temprature is not a setting',
  ],
  [`modes:\n  one: {${base}, key: sk-secret}`, 2, 'modes.one.key does not say where the key is'],
  [`modes:\n  one: {${base}, context_tokens: 3}`, 2, 'modes.one.context_tokens must be a whole number'],
  [`modes:\n  one: {${base}, temperature: warm}`, 2, 'modes.one.temperature must be a number'],
  [`modes:\n  one: {${base}, show_reasoning: 1}`, 2, 'modes.one.show_reasoning must be true or false'],
  [`modes:\n  one: {${base}, parameters: {model: x}}`, 2, 'modes.one.parameters.model cannot be set'],
  [`modes:\n  one: {${base}, temperature: 9}`, 2, 'modes.one.temperature must be a number from 0 to 5'],
  [
    `modes:\n  one: {${base}, parameters: {max_tokens: 0}}`,
    2,
    'modes.one.parameters.max_tokens must be a whole number from 1',
  ],
  [
    `modes:\n  one: {${base}, parameters: {extra_headers: {Authorization: sk-secret}}}`,
    2,
    'modes.one.parameters.extra_headers.Authorization must not hold a key',
  ],
  [
    `modes:\n  one: {${base}, parameters: {seed: .inf}}`,
    2,
    'modes.one.parameters.seed holds a value that JSON cannot hold',
  ],
  [`modes:\n  one: {${base}, engine: smoke}`, 2, 'modes.one.engine must be "openai"'],
  [`modes:\n  one: {${base}, fallback: nobody}`, 2, 'modes.one.fallback is not a mode: "nobody"'],
  [
    `modes:\n  one: {${base}, fallback: two}\n  two: {${base}, fallback: one}`,
    2,
    'modes.one.fallback leads back',
  ],
  [`modes:\n  eliza: {${base}}`, 2, 'modes.eliza the mode eliza is built in'],
  [`modes:\n  ../x: {${base}}`, 2, 'modes.../x "../x" is not a valid mode name'],
  ['modes:\n  one:\n   - x', 3, 'modes.one is not an object'],
  ['default: nobody\n', 1, 'default is not a mode'],
  ['\n\nmods: {}\n', 3, 'mods is not a field of a file of modes'],
  ['modes: [\n', 2, ''],
  ['modes: {}\nmodes: {}\n', 2, ''],
  ['- x\n', 1, 'contains no modes'],
  ['only words\n', 1, 'contains no modes'],
  ['modes: {}\n---\nmodes: {}\n', 2, 'a second document begins here'],
  [
    `modes:\n  one:\n    base_url: https://a.example\n    model: m\n    context_tokens: 300\n    system: ${'word '.repeat(200)}\n`,
    6,
    'modes.one.system has about 337 tokens, but the context of the mode has only 300',
  ],
])('a fault in %j is reported with its line and field, and no key is quoted', async (text, line, problem) => {
  const path = fileOf(text);
  const failure = await readModesFile(path, signal).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'CONFIG',
    message: expect.stringContaining(`${path}, line ${line}: ${problem}`),
  });
  expect(String(failure)).not.toContain('sk-secret');
});

test.each([
  ['lists in lists', `modes: ${'['.repeat(100_000)}`, 'is nested too deeply'],
  ['aliases of aliases', `${bomb}modes: {}\n`, 'has too many aliases'],
])('endless %s are refused in bounded memory', async (_what, text, problem) => {
  const path = fileOf(text);
  await expect(readModesFile(path, signal)).rejects.toMatchObject({
    code: 'CONFIG',
    message: `${path}, line 1: ${problem}.`,
  });
});

test('a missing file is reported', async () => {
  await expect(readModesFile('/nowhere/modes.yaml', signal)).rejects.toMatchObject({
    code: 'CONFIG',
    message: '/nowhere/modes.yaml cannot be read (ENOENT).',
  });
});

test.runIf(process.platform === 'linux')('an endless file is refused by its size', async () => {
  await expect(readModesFile('/dev/zero', signal)).rejects.toMatchObject({
    code: 'CONFIG',
    message: '/dev/zero cannot be read (more than 8388608 bytes).',
  });
});

test('a default that is no mode comes with advice for the file, not for the configuration', async () => {
  await expect(readModesFile(fileOf('default: nobody\n'), signal)).rejects.toMatchObject({
    hint: 'Name one of its modes or a built-in one, or remove the line.',
    remedy: null,
  });
});
