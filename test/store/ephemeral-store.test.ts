// A store that keeps no text, over each database: what it answers from memory, and what the kept store holds afterwards.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { storeRules } from '../../src/local/local-store-rules.ts';
import { ephemeralStore } from '../../src/store/ephemeral-store.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { openMemoryStore } from '../../src/store/sqlite/memory-store.ts';
import type { PostgresDatabase } from '../support/postgres-server.ts';
import { openTestPostgres } from '../support/postgres-store.ts';
import { textsInFiles, textsInRows } from '../support/remaining-texts.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { storeOptions } from '../support/store-options.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestStore } from '../support/test-store.ts';
import { beginAnother, regeneration } from './line-samples.ts';
import { everySession, newKey, search, startOfTime, turnReply } from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

const marker = 'canary-of-the-memory';
const usage = { input_tokens: 3, output_tokens: 4 };

let database: PostgresDatabase;
beforeAll(async () => {
  database = await sharedPostgres();
}, 60_000);

/** The kept store, and the texts that it holds. */
const homes: Readonly<Record<string, () => Promise<[SessionStore, () => Promise<readonly string[]>]>>> = {
  SQLite: async () => {
    const directory = temporaryDirectory();
    const { store } = await openTestStore(storeOptions(directory));
    return [store, () => textsInFiles(directory, [marker])];
  },
  PostgreSQL: async () => {
    const { store } = await openTestPostgres(database);
    return [store, () => textsInRows(database, [marker])];
  },
};

describe.each(Object.entries(homes))('over %s', (_name, home) => {
  async function open() {
    const [kept, texts] = await home();
    const key = newKey();
    const { project_id: project } = await kept.createKey(key);
    const memory = await openMemoryStore({ ...storeOptions(''), rules: storeRules });
    onTestFinished(() => memory.close());
    const store = ephemeralStore(kept, memory);
    await store.findKey(key.hash);
    return { kept, texts, key, project, store };
  }

  test('a conversation is whole in memory, and counts where nothing of its text is', async () => {
    const { kept, texts, project, store } = await open();
    const before = await kept.usage(0, 'mode');
    const turn = await begin(store, project, { content: marker });
    await store.endTurn(project, turn, turnReply({ content: `${marker} too`, usage, mode: 'eph' }));
    const again = await beginAnother(store, project, regeneration(turn.session_id));
    await store.endTurn(project, again, turnReply({ content: `${marker} again`, usage, mode: 'eph' }));
    expect(await contents(store, project, turn.session_id)).toEqual([
      `user: ${marker}`,
      `stop: ${marker} again`,
    ]);
    expect((await search(store, project, marker)).items).toHaveLength(1);
    expect(
      (await kept.usage(0, 'mode')).filter((group) => !before.some((one) => one.group === group.group)),
    ).toEqual([expect.objectContaining({ group: 'eph', turns: 2, input_tokens: 6, output_tokens: 8 })]);
    expect((await kept.listSessions(project, everySession())).items).toEqual([]);
    expect(await texts()).toEqual([]);
  });

  test('a purge erases what is counted, and nothing else is left of it', async () => {
    const { kept, project, store } = await open();
    const turn = await begin(store, project, { content: marker });
    await store.endTurn(project, turn, turnReply());
    const filter = { projectId: project, deletedBefore: startOfTime + 1 };
    expect(await kept.planPurge(filter)).toMatchObject({ sessions: 1, messages: 2, text_bytes: 0 });
  });

  test('a key that is revoked meanwhile begins no further turn, and deletes nothing', async () => {
    const { kept, key, project, store } = await open();
    const { session_id } = await begin(store, project, {});
    await kept.revokeKey(key.key_id, startOfTime);
    await expect(
      store.deleteSession(project, session_id, startOfTime, undefined, key.hash),
    ).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
    await expect(begin(store, project, { keyHash: key.hash })).rejects.toMatchObject({
      code: 'INVALID_API_KEY',
    });
  });
});
