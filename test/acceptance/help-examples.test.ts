// Each example of the help runs as a user types it, in a place that has what the examples name.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandPath, eachCommand, outputHelpText } from '../../src/cli/command-tree.ts';
import { examples } from '../../src/cli/manual/examples.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { Place, type Typing } from '../support/parley.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { zipArchive } from '../support/zip-archive.ts';

let place: PlaceWithModel;
let copy: string;
let other: Place;
let server: ServedPlace;
let sessionId: string;
let keyId: string;
let key: string;

const lines = Object.entries(examples).flatMap(([path, own]) => own.map(([line]) => [line, path] as const));
// The command lines in the notes of a page.
const program = await buildProgram([], '', () => async () => {}, {});
eachCommand(program, (command) => {
  for (const [, line = ''] of outputHelpText(command).matchAll(/^ {2}((?:git diff \| )?parley .*)$/gm))
    lines.push([line, commandPath(command)]);
});

beforeAll(async () => {
  place = await PlaceWithModel.open();
  other = new Place();
  server = await servePlace(other);
  key = (await other.output(['keys', 'create', '--project', 'team'])).trim();
  await place.add('qwen');
  await place.add('gpt');
  keyId = (await place.answer<{ key_id: string }>(['keys', 'create', '--project', 'team'])).key_id;
  writeFileSync(join(place.path, 'key.txt'), key);
  writeFileSync(join(place.path, 'in.txt'), 'One\nTwo\n');
  writeFileSync(join(place.path, 'main.c'), 'int main(void) { return 0; }\n');
  writeFileSync(join(place.path, 'commit.md'), 'Write a commit message in {{language:English}} for this:\n');
  writeFileSync(
    join(place.path, 'modes.yaml'),
    `modes:\n  qwen: { base_url: '${place.server.url}', model: m }\n`,
  );
  const conversations = new URL('../fixtures/imports/chatgpt/conversations.json', import.meta.url);
  const [conversation] = JSON.parse(readFileSync(conversations, 'utf8'));
  const bytes = Buffer.from(JSON.stringify([conversation]));
  const zipped = zipArchive([{ name: 'conversations.json', bytes }]);
  writeFileSync(join(place.path, 'export.zip'), zipped);
  const { status, err } = await place.shell(
    `set -e
    git init -q . && git -c user.name=A -c user.email=a@b.c commit -q --allow-empty -m First
    parley login --quiet --profile work --url ${server.url} --key-stdin < key.txt
    parley profiles use local
    parley templates edit commit < commit.md
    parley chat -n --title "Trip to Oslo" "A backup and a restore"
    for message in Second Third Fourth; do parley chat -n -c "$message"; done
    parley sessions undo "Trip to Oslo"
    parley sessions tag "Trip to Oslo" +work +draft
    parley sessions pin "Trip to Oslo"
    for title in One Two; do parley chat -n --title "$title" --user ada Hi; done
    parley sessions tag One Two +bin --yes
    parley sessions archive Two
    parley sessions delete --tag bin --archived --yes
    parley sessions delete --tag bin --yes
    parley sessions list --ids --title-match Trip* > ids.txt
    parley sessions export "Trip to Oslo" -o all.json
    parley store backup parley.backup
    parley retention set --after 90d
    parley chat -n "The last one"`,
  );
  expect(status, err).toBe(0);
  sessionId = (await place.output(['sessions', 'list', '--ids', '--title-match', 'Trip*'])).trim();
  copy = temporaryDirectory(afterAll);
  cpSync(place.path, copy, { recursive: true });
});
afterAll(async () => {
  await server.end('SIGTERM');
  other.remove();
  await place.close();
});

/** The line for this place: with an id, and with addresses of this machine. */
function inPlace(path: string, line: string): string {
  return line
    .replace(/\bID\b/, path === 'parley keys revoke' ? keyId : sessionId)
    .replace('https://chat.example.com', server.url)
    .replace('~/.local/share/parley', 'data')
    .replace('postgres://parley@db.example.com/parley', 'copied')
    .replace('--metrics 9090', '--metrics 0');
}

/** What makes the place ready for a line. */
function before(line: string): string {
  const [, mode] = /^parley modes add (\w+)/.exec(line) ?? [];
  if (mode !== undefined) return `parley modes remove ${mode} && `;
  if (line.includes('--resume out.ndjson')) return 'parley chat --batch < in.txt > out.ndjson && ';
  const [, file] = /^parley (?:sessions export|store backup) .*?(\S+\.(?:json|backup))$/.exec(line) ?? [];
  if (file !== undefined) return `rm ${file} && `;
  if (line.includes('/fish/')) return 'mkdir -p ~/.config/fish/completions && ';
  // The session of -c is that of the terminal.
  return line === 'parley repl -c' ? 'parley chat -n Hi && ' : '';
}

/** A server is stopped when it listens. */
function stopped(line: string): string {
  return `${line} --port 0 > served & server=$!
    until grep -q http: served; do kill -0 $server || exit 9; sleep 0.05; done
    kill $server; wait $server; [ $? = 143 ]`;
}

/** What a person types at a command that asks; null for the others. */
function typingFor(path: string, line: string): readonly Typing[] | null {
  // The prompt has turned on bracketed paste.
  if (line === 'parley' || path === 'parley repl') return [{ after: '?2004h', keys: '\u0004' }];
  const asksKey = path === 'parley login' && !line.includes('--key-stdin');
  return asksKey ? [{ after: 'Key for', keys: `${key}\r` }] : null;
}

test.each(lines)('%s', { timeout: 30_000 }, async (line, path) => {
  for (const name of readdirSync(place.path)) rmSync(join(place.path, name), { recursive: true });
  cpSync(copy, place.path, { recursive: true });
  const env = { EDITOR: 'true', API_KEY: 'secret', PAGER: 'cat' };
  const script = before(line) + inPlace(path, line);
  const typing = typingFor(path, line);
  const outcome = typing
    ? await place.terminal(script, env, typing)
    : await place.shell(path === 'parley serve' ? stopped(script) : script, env);
  // A machine may have no server of a model.
  const expected = path === 'parley setup' ? [0, 1] : [0];
  expect(expected, outcome.out + outcome.err).toContain(outcome.status);
});
