// Eight processes open one store at the same moment while it does not exist, again and again. Each store is then compared with the answers
// that they got.
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, onTestFinished } from 'vitest';
import type { Opened } from '../../support/opening-process.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { everySession } from '../store-samples.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Node runs no TypeScript on all versions that Parley supports, so the process is bundled first. */
async function bundle(directory: string): Promise<string> {
  const built = await rolldown({
    input: join(repository, 'test/support/opening-process.ts'),
    platform: 'node',
    external: ['better-sqlite3'],
  });
  const file = join(directory, 'opening-process.mjs');
  await built.write({ file, format: 'esm', codeSplitting: false });
  await built.close();
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  return file;
}

async function openIn(child: ChildProcess, directory: string): Promise<Opened> {
  const answered = once(child, 'message');
  child.send(directory);
  const [opened] = await answered;
  return opened as Opened;
}

export async function openAtOnce(rounds: number): Promise<void> {
  const directory = temporaryDirectory();
  const script = await bundle(directory);
  const children = Array.from({ length: 8 }, () => fork(script));
  onTestFinished(() => {
    for (const child of children) child.kill();
  });
  for (let round = 0; round < rounds; round += 1) {
    const data = join(directory, `round-${round}`);
    const all = await Promise.all(children.map((child) => openIn(child, data)));
    expect(all.map((opened) => opened.error)).toEqual(Array(8).fill(null));
    expect(all.some((opened) => opened.created)).toBe(true);
    const { store, created } = await openTestStore(storeOptions(data));
    const keys = await store.listKeys();
    const projects = new Set(keys.map((key) => key.project_id));
    expect([created, keys.length, projects.size]).toEqual([false, 8, 1]);
    const [project = ''] = projects;
    expect((await store.listSessions(project, everySession())).items).toHaveLength(8);
    await store.close();
  }
}
