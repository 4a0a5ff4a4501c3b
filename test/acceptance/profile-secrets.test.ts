// Secrets in a configuration that was edited by hand: commands that show a profile show no password, and a logout leaves no key.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
  onTestFinished(() => place.remove());
  mkdirSync(place.configDirectory, { mode: 0o700 });
});

function writeProfiles(profiles: object): void {
  writeFileSync(place.configFile, JSON.stringify({ profiles }), { mode: 0o600 });
}

const addresses = [
  ['store', 'postgres://ann:canary@db.example/notes', 'postgres://ann:…@db.example/notes'],
  ['store', 'postgres://ann:ca/na?ry@db.example:6/notes', 'postgres://ann:…@db.example:6/notes'],
  ['store', 'postgres://ann@db.example/notes?password=canary', 'postgres://ann@db.example/notes?password=…'],
  [
    'store',
    'postgres://ann@db.example/notes?password=env:WORD&schema=a',
    'postgres://ann@db.example/notes?password=env:WORD&schema=a',
  ],
  ['store', 'postgres://one:1,two:2/notes', 'postgres://one:1,two:2/notes'],
  ['url', 'https://ann:canary@chat.example/a', 'https://…@chat.example/a'],
  ['url', 'https://canary@chat.example/a', 'https://…@chat.example/a'],
  ['url', 'https://ann:ca/nary@chat.example/a', 'https://…@chat.example/a'],
  ['url', 'https://chat.example/a?key=canary', 'https://chat.example/a?…'],
  ['url', 'https://chat.example:80/~ann@work', 'https://chat.example:80/~ann@work'],
] as const;

test.each(addresses)('the list of profiles shows the %s %s as %s', async (field, address, shown) => {
  writeProfiles({ work: { [field]: address } });
  expect(await place.output(['profiles', 'list'])).toBe(`*\tlocal\tembedded\t\n\twork\t${shown}\t\n`);
  expect(await place.answer(['profiles', 'list'])).toContainEqual(
    expect.objectContaining({ name: 'work', [field]: shown }),
  );
});

test('a logout from a store leaves no key of it in any file', async () => {
  const store = 'postgres://127.0.0.1:5432/notes';
  const keys = { [store]: 'pk_canary_of_the_store' };
  const former_keys = { [store]: ['pk_canary_of_an_earlier_store'] };
  writeProfiles({ work: { store: store.replace('//', '//ann@'), keys, former_keys } });
  await place.output(['logout', '--profile', 'work']);
  for (const name of readdirSync(place.configDirectory))
    expect(readFileSync(join(place.configDirectory, name), 'utf8')).not.toContain('canary');
});
