// The check of the keys of calls: which keys are remembered, and for how long.
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { hashKey, issueKey } from '../../src/local/api-keys.ts';
import { KeyCheck } from '../../src/local/key-check.ts';
import type { LocalArchive } from '../../src/local/local-archive.ts';
import type { FoundKey, SessionStore } from '../../src/store/session-store.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';
import { openEmbedded, temporaryDirectory } from '../support/embedded.ts';

/** More than the check remembers. */
const manyKeys = 1001;

const found: FoundKey = {
  ...{ key_id: 'key_1', key_name: 'laptop', project_id: 'prj_1', project_name: 'default' },
  ...{ created_at: '2026-01-31T12:00:00.000Z', last_used_at: null, revoked_at: null },
  ...{ scope: null, expires_at: null, turns_per_day: 5, tokens_per_day: null },
};

/** A check over a store whose answers wait for `answer`; null for a key that the store does not have. */
function checkWith(answer: (hash: Uint8Array) => Promise<FoundKey | null>): KeyCheck {
  const store = {
    findKey: answer,
    budgets: { recordUse: async () => {} },
    audit: { record: async () => {} },
  } as unknown as SessionStore;
  return new KeyCheck({ store, now: () => Date.parse(found.created_at) });
}

test('a key is accepted although many unknown keys are tried while the store looks it up', async () => {
  const key = issueKey(randomBytes);
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const keys = checkWith(async (hash) => {
    if (!Buffer.from(hash).equals(hashKey(key))) return null;
    await opened;
    return found;
  });
  const project = keys.project(callWith(key), 'getSession');
  for (let count = 0; count < manyKeys; count += 1)
    await expect(keys.verify(issueKey(randomBytes))).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  open();
  expect(await project).toBe('prj_1');
});

test.each([1000, 999])(
  'the budget of a key counts although %d keys were checked before its last use, and two since',
  async (before) => {
    const keys = checkWith(async () => found);
    const call = callWith(issueKey(randomBytes));
    await keys.project(call, 'chat');
    for (let count = 1; count < before; count += 1) await keys.verify(issueKey(randomBytes));
    await keys.access(call, 'chat', () => {});
    for (let count = 0; count < 2; count += 1) await keys.verify(issueKey(randomBytes));
    expect(keys.budgetOf(call)).toEqual(hashKey(call.apiKey));
  },
);

/** A backend in which more keys than the check remembers are checked while a call waits for this method of the store. */
async function openForgetful(method: 'findSession' | 'listMessages') {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  let others: readonly string[] = [];
  const backend = await openEmbedded(directory.path, {
    around: (store) =>
      new Proxy(store, {
        get(target, name: keyof SessionStore) {
          const member = target[name];
          if (typeof member !== 'function') return member;
          return async (...values: readonly unknown[]) => {
            if (name === method) for (const key of others) await backend.service.verify(callWith(key));
            return Reflect.apply(member, target, values);
          };
        },
      }),
  });
  onTestFinished(backend.close);
  const keyOf = (turns_per_day: number | null) =>
    backend.administration.createKey({ project_name: 'one', key_name: 'test', turns_per_day });
  const { key, key_id } = await keyOf(1);
  const call = callWith(key);
  const { session_id } = await say(backend.service, call, 'hello');
  const created = await Promise.all(Array.from({ length: manyKeys }, () => keyOf(null)));
  others = created.map((other) => other.key);
  return { backend, call, key_id, session_id };
}

test('the budget of a key counts although many keys are checked while a chat waits for the store', async () => {
  const { backend, call, session_id } = await openForgetful('findSession');
  const failure = await failureOf(say(backend.service, call, 'again', session_id, null));
  expect(failure.code).toBe('BUDGET_EXCEEDED');
});

test('the audit log names the key of an export although many keys are checked while it waits for the store', async () => {
  const { backend, call, key_id, session_id } = await openForgetful('listMessages');
  const page = { limit: 10, cursor: null };
  await backend.archive.listMessages({ ...call, isExport: true }, session_id, page);
  await (backend.archive as LocalArchive).finish();
  const query = { since: null, until: null, project_id: null, what: 'export', session_id } as const;
  expect(await backend.administration.newestAuditEntries(query, 10)).toMatchObject([{ key_id }]);
});

test('a revoked key learns nothing of the user of a session', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const { service, administration, close } = await openEmbedded(directory.path);
  onTestFinished(close);
  const { key, key_id } = await administration.createKey({ project_name: 'one', key_name: 'test' });
  const call = callWith(key);
  const { session_id } = (await service.createSession(call, { title: null, user: 'ann' })).data;
  await administration.revokeKey(key_id);
  const request = { mode: 'echo', message: 'hello', session_id, user: 'bob' };
  const failure = await failureOf(collect(service.chat(call, request, 'whole')));
  expect(failure.code).toBe('INVALID_API_KEY');
});
