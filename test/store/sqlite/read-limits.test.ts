// Some projects search without an end: other projects are served soon all the same, and a search that lasts too long is refused. The
// processes are real and run an SQLite statement without an end.
import { performance } from 'node:perf_hooks';
import { expect, it, onTestFinished } from 'vitest';
import type { ReadLimits } from '../../../src/store/sqlite/read-queue.ts';
import { defaultReadLimits, StoreProcesses } from '../../../src/store/sqlite/store-processes.ts';
import { driver } from '../../support/driver.ts';
import { searchFilter } from '../store-samples.ts';

const file = new URL('../../support/endless-worker.js', import.meta.url);
const never = new AbortController().signal;

function opened(limits: Partial<ReadLimits> = {}) {
  const place = { path: 'none', lockWaitMs: 1, driver: driver.name };
  const processes = new StoreProcesses(file, place, { ...defaultReadLimits, ...limits });
  onTestFinished(() => processes.close());
  const search = async (project: string, text: string, signal = never) => {
    const page = await processes.search(project, searchFilter(text), signal);
    if (page === null) throw new Error('It was not searched.');
    return page;
  };
  return { processes, search };
}

it('endless searches of four projects do not delay a fifth project', async () => {
  const { search } = opened();
  const endless = [1, 2, 3, 4].map((number) => search(`hostile ${number}`, 'endless'));
  const outcomes = Promise.allSettled(endless);
  const start = performance.now();
  expect((await search('other', 'quick')).items).toEqual([]);
  // Most of this time is the start of a process on a busy machine.
  expect(performance.now() - start).toBeLessThan(5000);
  expect(await Promise.race([outcomes, 'they go on'])).toBe('they go on');
});

it('when no more searches may run, the slow search of the project that has searched longest is ended', async () => {
  const { search } = opened({ maxQuick: 1, slowMs: 100, maxRunning: 2 });
  const first = expect(search('hostile 1', 'endless')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    retryAfter: 5,
  });
  const second = search('hostile 2', 'endless').then(
    () => 'found',
    () => 'refused',
  );
  expect((await search('other', 'quick')).items).toEqual([]);
  await first;
  expect(await Promise.race([second, 'it goes on'])).toBe('it goes on');
});

it('among waiting searches, the one of the project that has searched least comes first', async () => {
  const { search } = opened({ maxQuick: 1, maxRunning: 1, slowMs: 60_000 });
  await search('busy', 'quick');
  const order: string[] = [];
  const begun = ['third', 'busy', 'idle'].map(async (project) => {
    await search(project, 'quick');
    order.push(project);
  });
  await Promise.all(begun);
  expect(order).toEqual(['third', 'idle', 'busy']);
});

it('projects with endless searches end each other’s searches only now and then', async () => {
  const { search } = opened({ maxQuick: 1, slowMs: 50, maxRunning: 1 });
  const stop = new AbortController();
  const refused: string[] = [];
  const endless = async (project: string) => {
    for (let round = 0; round < 20 && !stop.signal.aborted; round += 1)
      await search(project, 'endless', stop.signal).catch(() => refused.push(project));
  };
  const all = Promise.all([endless('one'), endless('other')]);
  // Each is ended now and then for the other, and always for a project that has not searched yet.
  for (let number = 0; number < 3; number += 1)
    expect((await search(`new ${number}`, 'quick')).items).toEqual([]);
  stop.abort();
  await all;
  expect(refused.length).toBeLessThan(20);
});

it('a search that lasts too long is refused with an error that names its words, and its project can search again', async () => {
  const { search } = opened({ longestSearchMs: 1500 });
  const refused = expect(search('hostile', 'endless')).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: 'The query lasts longer than 1.5 s: "endless".',
    details: [{ field: 'q' }],
  });
  const next = search('hostile', 'quick');
  await refused;
  expect((await next).items).toEqual([]);
  expect(defaultReadLimits.longestSearchMs).toBe(60_000);
});

it('a search that its caller cancels leaves its place to the next one of its project', async () => {
  const { search } = opened();
  const stop = new AbortController();
  const stopped = expect(search('one', 'endless', stop.signal)).rejects.toThrow('left');
  const next = search('one', 'quick');
  stop.abort(new Error('left'));
  await stopped;
  expect((await next).items).toEqual([]);
});

it('closing ends an endless search, and refuses the waiting ones', async () => {
  const { processes, search } = opened();
  const outcomes = Promise.allSettled(['endless', 'quick'].map((text) => search('one', text)));
  await search('other', 'quick');
  await processes.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
