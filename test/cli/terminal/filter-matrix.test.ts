// Untrusted text in every place that shows it: replies, titles, names of modes, errors and earlier messages, each attack cut everywhere; and a
// filter that only strips escape sequences fails the same check.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bundleProgram } from '../../support/bundled-program.ts';
import { runs } from '../../support/runs.ts';
import { attacks, withoutOwnColour } from './attacks.ts';
import { attackAt, randomAt } from './filter-matrix.ts';
import { filterPlaces, type PlaceKind, withoutFrame } from './filter-places.ts';
import { HostileServer } from './hostile-server.ts';

const kinds: readonly PlaceKind[] = ['reply', 'title', 'mode name', 'error', 'history'];
// The short form tries each cut in half of the places of a kind, without colour or with it.
const each = runs(4, 1);
const randomTexts = runs(1_000, 100_000);

test('there are at least 40 attacks, and a place of each kind', () => {
  expect(Object.keys(attacks).length).toBeGreaterThanOrEqual(40);
  expect(new Set(filterPlaces.map(({ kind }) => kind))).toEqual(new Set(kinds));
});

describe.each(filterPlaces)('$kind: $name', (place) => {
  test('cannot control a terminal, with any attack and any cut', async () => {
    const { shown, breaches } = await attackAt(place, { each, first: 2 * (filterPlaces.indexOf(place) % 2) });
    expect(breaches.slice(0, 3)).toEqual([]);
    expect(shown).toBeGreaterThan(1000 / each);
  });

  test('shows only permitted characters of random texts', async () => {
    const { shown, breaches } = await randomAt(place, Math.ceil(randomTexts / filterPlaces.length));
    expect(breaches.slice(0, 3)).toEqual([]);
    expect(shown).toBeGreaterThanOrEqual(randomTexts / filterPlaces.length);
  });

  test('shows the text of an attack visibly', async () => {
    const server = new HostileServer(false);
    await place.show(['be\x1b[8mfore', 'after'], server);
    const written = withoutFrame(server.taken());
    expect(written).toContain('be\\x1b[8mfore');
    expect(written).toContain('after');
  });
});

test.each(filterPlaces.filter(({ kind }) => kind === 'reply'))(
  '$name joins a character that was cut in two',
  async (place) => {
    const server = new HostileServer(true);
    await place.show(['fine \ud83d', '\ude00 day'], server);
    expect(withoutOwnColour(server.taken())).toContain('fine \u{1f600} day');
  },
);

describe('the same check', () => {
  const program = fileURLToPath(new URL('filter-matrix-program.ts', import.meta.url));
  const filter = fileURLToPath(new URL('../../../src/cli/terminal/filter.ts', import.meta.url));
  const stripping = fileURLToPath(new URL('stripping-filter.ts', import.meta.url));

  interface Line {
    readonly kind: PlaceKind;
    readonly place: string;
    readonly shown: number;
    readonly attacks: number;
    readonly random: number;
  }

  async function linesOf(mutant: { readonly of: string; readonly path: string }): Promise<readonly Line[]> {
    const bundled = await bundleProgram(program, { mutant });
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [bundled.path]);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    } finally {
      await bundled.remove();
    }
  }

  test('fails in every place with a filter that strips escape sequences', async () => {
    const stripped = await linesOf({ of: filter, path: stripping });
    expect(stripped.map(({ place }) => place)).toEqual(filterPlaces.map(({ name }) => name));
    for (const line of stripped) {
      expect(line.attacks, line.place).toBeGreaterThan(line.shown / 10);
      expect(line.random, line.place).toBeGreaterThan(20);
    }
  }, 120_000);
});
