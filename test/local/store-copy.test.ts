// The comparison at the end of a copy: it reads the messages of the original once, and finds changes on both sides.
import { expect, onTestFinished, test } from 'vitest';
import { copyStore } from '../../src/local/store-copy.ts';
import { openSqliteRows } from '../../src/store/sqlite/open.ts';
import type { StoreRows } from '../../src/store/store-rows.ts';
import { turnOf } from '../store/line-samples.ts';
import { newKey } from '../store/store-samples.ts';
import { contents } from '../store/turn-steps.ts';
import { storeOptions } from '../support/store-options.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestStore } from '../support/test-store.ts';

async function stores() {
  const [from, to] = [storeOptions(temporaryDirectory()), storeOptions(temporaryDirectory())];
  const { store } = await openTestStore(from);
  const { project_id } = await store.createKey(newKey());
  const turns = [];
  for (const text of ['a', 'b', 'c']) turns.push(await turnOf(store, project_id, null, text));
  const [original, target] = [await openSqliteRows(from), await openSqliteRows(to)];
  onTestFinished(async () => {
    await original.close();
    await target.close();
  });
  const ids = turns.map(({ session_id }) => session_id).sort();
  return { store, project_id, ids, original, target, to };
}

function copying(original: StoreRows, copy: StoreRows) {
  return copyStore({
    ...{ original, copy, from: 'one', to: 'two', resume: false, signal: new AbortController().signal },
    copyModes: async () => ({ copied: 0, kept: [], faulty: [] }),
    progress: { begin: () => {}, finish: () => {} },
  });
}

/** The same rows, with some methods in place of theirs. */
function changed(rows: StoreRows, methods: Partial<StoreRows>): StoreRows {
  return new Proxy(rows, {
    get(target, name) {
      const method = methods[name as keyof StoreRows] ?? Reflect.get(target, name);
      return method.bind(target);
    },
  });
}

test('an unchanged original is read once, and its sessions once more without their messages', async () => {
  const { project_id, ids, original, target, to } = await stores();
  let pages = 0;
  const counted = changed(original, {
    readParts: (...values) => {
      pages += 1;
      return original.readParts(...values);
    },
  });
  const { projects } = await copying(counted, target);
  expect(projects).toMatchObject([{ sessions: 3, messages: 6 }]);
  expect(pages).toBe(1);
  const { store: copy } = await openTestStore(to);
  expect(await contents(copy, project_id, ids[1] as string)).toHaveLength(2);
});

test('a session that is changed or created after it was read makes the copy differ, and is named', async () => {
  for (const isNew of [false, true]) {
    const { store, project_id, ids, original, target } = await stores();
    let sessionId: string | null = isNew ? null : (ids[1] as string);
    const late = changed(original, {
      readParts: async (...values) => {
        const page = await original.readParts(...values);
        if (sessionId === null || ids.includes(sessionId))
          sessionId = (await turnOf(store, project_id, sessionId, 'later')).session_id;
        return page;
      },
    });
    const failure = await copying(late, target).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'COPY_DIFFERS',
      message: expect.stringContaining(String(sessionId)),
    });
    expect(await target.keys()).toEqual([]);
  }
});

test('keys are the same whatever class a store gives their hashes in, and another hash makes the copy differ', async () => {
  const { original, target } = await stores();
  const given = (rows: StoreRows, hash: (bytes: Uint8Array) => Uint8Array) =>
    changed(rows, {
      keys: async () => (await rows.keys()).map((key) => ({ ...key, hash: hash(key.hash) })),
    });
  const buffers = given(original, (bytes) => Buffer.from(bytes));
  const [key] = await original.keys();
  await copying(
    buffers,
    given(target, (bytes) => Uint8Array.from(bytes)),
  );
  const { target: other } = await stores();
  const wrong = given(other, (bytes) => bytes.toReversed());
  await expect(copying(buffers, wrong)).rejects.toMatchObject({
    code: 'COPY_DIFFERS',
    message: expect.stringContaining(key?.key_id ?? 'no key'),
  });
});

test('a message that the copy stores otherwise makes it differ', async () => {
  const { ids, original, target } = await stores();
  const careless = changed(target, {
    addParts: (projectId, parts) =>
      target.addParts(
        projectId,
        parts.map(({ session, messages }) =>
          session.session_id === ids[2]
            ? {
                session,
                messages: messages.map((message) => ({ ...message, content: `${message.content} ` })),
              }
            : { session, messages },
        ),
      ),
  });
  await expect(copying(original, careless)).rejects.toMatchObject({
    code: 'COPY_DIFFERS',
    message: expect.stringMatching(new RegExp(`, ${ids[2]}\\.$`)),
  });
});
