// The state after a power cut. A command is recorded with its writes and syncs. Then the disk is rebuilt as a cut may leave it, and
// the next command runs on it. `scripts/power-cut.js` does the same with more commands, at every moment.
import { basename, dirname } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { configurationScenarios } from '../support/power-cut/configuration-scenarios.ts';
import { conversationScenarios } from '../support/power-cut/conversation-scenarios.ts';
import { type Operation, Recorder } from '../support/power-cut/recording.ts';
import { echo } from '../support/power-cut/scenario.ts';
import { sessionScenarios } from '../support/power-cut/session-scenarios.ts';
import { storeScenarios } from '../support/power-cut/store-scenarios.ts';
import { runTrial } from '../support/power-cut/trial.ts';

const made = Recorder.make();
// In CI a missing compiler is a failure.
if (typeof made === 'string' && process.env['CI']) throw new Error(made);
const without = typeof made === 'string' ? made : null;

describe.skipIf(without !== null)(`recorded${without === null ? '' : ` (${without})`}`, () => {
  const recorder = made as Recorder;
  let place: PlaceInProcess;
  beforeEach(() => {
    place = new PlaceInProcess();
  });
  afterEach(() => place.remove());
  afterAll(() => recorder.remove());

  const chosen = [
    'the first chat',
    'chat --batch --resume',
    'modes add one',
    'login',
    'sessions delete of a batch',
    'sessions export -o export.json',
    'sessions import',
    'sessions export -o new/directory/',
    'the migration of an old store',
  ];
  const scenarios = [
    ...conversationScenarios,
    ...configurationScenarios,
    ...sessionScenarios,
    ...storeScenarios,
  ].filter(({ name }) => chosen.includes(name));

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    'what "%s" has reported survives a power cut',
    async (_name, scenario) => {
      const extent = { everyMoment: false, randomStates: 0, random: Math.random };
      expect((await runTrial(scenario, recorder, extent)).faults).toEqual([]);
    },
  );

  test('a turn syncs at most three times, and the next command reads what it left in the log', async () => {
    // The first command makes the store, the second one begins a log.
    for (const text of ['first', 'second']) await place.binary(['chat', '-n', '-m', 'echo', text]);
    const { operations } = await recorder.record(place, ['chat', '-n', '-m', 'echo', 'third']);
    expect(operations.filter((one) => one.kind === 'sync').length).toBeLessThanOrEqual(3);
    const search = await place.parley(['sessions', 'search', 'third', '--json']);
    expect(search.out).toContain('third');
  });

  test('the name and the directory of a new store are on disk before anything is written into it', async () => {
    const { operations } = await recorder.record(place, ['sessions', 'list']);
    const first = operations.findIndex((one) => one.kind === 'write' && one.path.startsWith(place.storeFile));
    expect(first).toBeGreaterThan(0);
    const synced = operations.slice(0, first).flatMap((one) => (one.kind === 'sync' ? [one.path] : []));
    expect(synced).toEqual([dirname(place.dataDirectory), place.dataDirectory]);
  });

  test('a turn in an existing store waits for the disk to sync the store, and for nothing else', async () => {
    await place.output([...echo, 'before']);
    const { operations } = await recorder.record(place, [...echo, 'a new session']);
    const synced = operations.flatMap((one) => (one.kind === 'sync' ? [one.path] : []));
    const ofStore = [place.dataDirectory, place.storeFile, `${place.storeFile}-wal`];
    expect(synced.filter((path) => !ofStore.includes(path))).toEqual([]);
    expect(synced).toContain(`${place.storeFile}-wal`);
  });

  test('the copy of an old store is on disk, under its name, before the store is changed', async () => {
    const migration = scenarios.find(({ name }) => name === 'the migration of an old store');
    const { words = [] } = (await migration?.prepare(place)) ?? {};
    const { operations } = await recorder.record(place, words);
    const steps = operations.flatMap((one) => ('path' in one ? [`${one.kind} ${basename(one.path)}`] : []));
    // SQLite promises no sync of what VACUUM INTO has written. (https://sqlite.org/lang_vacuum.html)
    const written = steps.indexOf('unlink parley.db.backup-part-journal');
    expect(steps.slice(written + 1, written + 5)).toEqual([
      'sync parley.db.backup-part',
      'rename parley.db.backup-part',
      'sync data',
      'write parley.db-wal',
    ]);
  });

  test('the results of a batch are on disk before its journal says that the batch is complete', async () => {
    const ids = [await place.newSession(), await place.newSession()];
    const words = ['sessions', 'delete', '-', '--yes'];
    const { operations } = await recorder.record(place, words, ids.join('\n'));
    const isOfJournal = (one: Operation) => 'path' in one && /\.(draft|journal)$/.test(one.path);
    const output = operations
      .filter(isOfJournal)
      .map((one) => (one.kind === 'write' ? `${one.data}` : one.kind))
      .filter((one) => !/^printed \d+\n$/.test(one));
    expect(output.slice(-4)).toEqual([
      'sync',
      '0 deleted\n1 deleted\n',
      'sync',
      expect.stringMatching(/^settled\ncomplete \d+ 2 0\n$/),
    ]);
  });

  test('nothing but SQLite opens the store while SQLite has it open', async () => {
    await place.output([...echo, 'hello']);
    await place.output(['sessions', 'delete', '--all', '--yes']);
    const commands = [
      ['doctor'],
      ['sessions', 'list'],
      ['usage'],
      ['sessions', 'purge', '--deleted-before', '0d', '--confirm', '1'],
    ];
    for (const words of commands) {
      const { operations, status } = await recorder.record(place, words);
      expect({ words, status }).toEqual({ words, status: 0 });
      expect(operations.filter(({ kind }) => kind === 'locks-lost')).toEqual([]);
    }
  });
});
