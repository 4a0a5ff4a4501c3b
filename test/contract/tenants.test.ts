// Several projects in one store, under random operations, compared with a model that is a plain map. Every text holds its project's
// marker. A marker in another project's answer is a leak.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { ParleyError } from '../../src/service/errors.ts';
import type { Session } from '../../src/service/session.ts';
import { anySession } from '../../src/service/session-archive.ts';
import { callWith, collect } from '../support/calls.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { runs } from '../support/runs.ts';

interface ModelSession {
  readonly tenant: number;
  readonly id: string;
  title: string | null;
  readonly texts: string[];
  deleted: boolean;
}

type Operation =
  | { readonly kind: 'create' | 'chatNew' | 'list' | 'search' | 'verify'; readonly tenant: number }
  | {
      readonly kind: 'chat' | 'get' | 'delete' | 'restore' | 'rename' | 'messages';
      readonly tenant: number;
      /** The number of a session among the sessions of all projects. */
      readonly session: number;
    }
  | {
      readonly kind: 'deleteMany' | 'restoreMany';
      readonly tenant: number;
      readonly sessions: readonly number[];
    };

const session = fc.nat(30);
const tenantOf = (tenants: number) => fc.nat(tenants - 1);

const operations = (tenants: number): fc.Arbitrary<readonly Operation[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constantFrom('create', 'chatNew', 'list', 'search', 'verify'),
          tenant: tenantOf(tenants),
        }),
      },
      {
        weight: 7,
        arbitrary: fc.record({
          kind: fc.constantFrom('chat', 'get', 'delete', 'restore', 'rename', 'messages'),
          tenant: tenantOf(tenants),
          session,
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constantFrom('deleteMany', 'restoreMany'),
          tenant: tenantOf(tenants),
          sessions: fc.array(session, { minLength: 1, maxLength: 5 }),
        }),
      },
    ) as fc.Arbitrary<Operation>,
    { minLength: 10, maxLength: 60 },
  );

describe('projects in one store', () => {
  it('behave as separate maps, and no response of one contains data of another', async () => {
    const scenario = fc
      .integer({ min: 2, max: 4 })
      .chain((tenants) => fc.tuple(fc.constant(tenants), operations(tenants)));
    await fc.assert(
      fc.asyncProperty(scenario, async ([tenants, script]) => {
        const directory = await temporaryDirectory();
        const backend = await openEmbedded(directory.path);
        try {
          await play(backend, tenants, script);
        } finally {
          await backend.close();
          await directory.remove();
        }
      }),
      { numRuns: runs(10, 300) },
    );
  });
});

async function play(backend: EmbeddedBackend, tenants: number, script: readonly Operation[]): Promise<void> {
  const keys: string[] = [];
  for (let tenant = 0; tenant < tenants; tenant++) keys.push(await newKey(backend, `tenant-${tenant}`));
  const model: ModelSession[] = [];
  let step = 0;
  for (const operation of script) {
    const { tenant } = operation;
    const call = callWith(keys[tenant] ?? '');
    const text = `<${tenant}> step ${step++}`;
    const at = (index: number) => model[index % Math.max(model.length, 1)];
    const active = (found: ModelSession | undefined) =>
      found?.tenant === tenant && !found.deleted ? found : undefined;
    const texts: string[] = [];
    const heard = {
      ...backend,
      service: recorded(backend.service, texts),
      archive: recorded(backend.archive, texts),
    };
    const answer = await outcome(() =>
      perform(heard, call, operation, text, (index) => at(index)?.id ?? 'ses_none'),
    );
    expect(texts).not.toEqual([]);
    const answered = texts.join('\n');
    for (let other = 0; other < tenants; other++) {
      if (other !== tenant) expect(answered).not.toContain(`<${other}>`);
    }
    const mine = 'session' in operation ? at(operation.session) : undefined;
    switch (operation.kind) {
      case 'create':
      case 'chatNew': {
        const { session_id } = answer as Session;
        const chats = operation.kind === 'chatNew';
        model.push({ tenant, id: session_id, title: text, texts: chats ? [text, text] : [], deleted: false });
        break;
      }
      case 'verify':
        expect(answer).toMatchObject({ project_name: `tenant-${tenant}` });
        break;
      case 'search': {
        const found = model.filter((one) => active(one) !== undefined && one.texts.length > 0);
        expect((answer as readonly string[]).toSorted()).toEqual(found.map(({ id }) => id).sort());
        break;
      }
      case 'list': {
        const ids = (answer as readonly Session[]).map(({ session_id }) => session_id).sort();
        const expected = model.filter((one) => active(one) !== undefined).map(({ id }) => id);
        expect(ids).toEqual(expected.sort());
        break;
      }
      case 'chat':
        if (active(mine)) {
          mine?.texts.push(text, text);
          expect(answer).toMatchObject({ reply: text, message_count: mine?.texts.length });
        } else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'get':
        if (active(mine))
          expect(answer).toMatchObject({ title: mine?.title, message_count: mine?.texts.length });
        else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'rename':
        if (active(mine) && mine) mine.title = text;
        else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'messages':
        if (active(mine)) expect(answer).toEqual(mine?.texts);
        else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'delete':
        if (active(mine) && mine) mine.deleted = true;
        else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'restore':
        if (mine?.tenant === tenant) mine.deleted = false;
        else expect(answer).toBe('SESSION_NOT_FOUND');
        break;
      case 'deleteMany':
      case 'restoreMany': {
        const deletes = operation.kind === 'deleteMany';
        const expected = operation.sessions.map((index) => {
          const one = at(index);
          const reached = deletes ? active(one) : one?.tenant === tenant ? one : undefined;
          if (reached) reached.deleted = deletes;
          return reached ? (deletes ? 'deleted' : 'restored') : 'not_found';
        });
        expect(answer).toEqual(expected);
      }
    }
  }
}

async function perform(
  backend: EmbeddedBackend,
  call: ReturnType<typeof callWith>,
  operation: Operation,
  text: string,
  id: (index: number) => string,
): Promise<unknown> {
  const { service, archive } = backend;
  const chat = async (session_id: string | null) => {
    const last = (
      await collect(service.chat(call, { mode: 'echo', message: text, session_id }, 'chunks'))
    ).at(-1);
    return last?.data;
  };
  switch (operation.kind) {
    case 'create':
      return (await service.createSession(call, { title: text })).data;
    case 'chatNew':
      return chat(null);
    case 'verify':
      return (await service.verify(call)).data;
    case 'list': {
      const page = { ...anySession, limit: 200, cursor: null };
      return (await archive.listSessions(call, page)).data.items;
    }
    case 'search': {
      const { data } = await archive.searchSessions(call, { query: 'step', limit: 200, cursor: null });
      return data.items.map(({ session: { session_id } }) => session_id);
    }
    case 'chat':
      return chat(id(operation.session));
    case 'get':
      return (await service.getSession(call, id(operation.session))).data;
    case 'rename':
      return (await archive.changeSession(call, id(operation.session), { title: text })).data;
    case 'messages': {
      const { data } = await archive.listMessages(call, id(operation.session), { limit: 200, cursor: null });
      return data.items.map(({ content }) => content);
    }
    case 'delete':
      return (await service.deleteSession(call, id(operation.session))).data;
    case 'restore':
      return (await archive.restoreSession(call, id(operation.session))).data;
    case 'deleteMany':
      return (await archive.deleteSessions(call, operation.sessions.map(id))).data.items.map(
        ({ status }) => status,
      );
    case 'restoreMany':
      return (await archive.restoreSessions(call, operation.sessions.map(id))).data.items.map(
        ({ status }) => status,
      );
  }
}

type Method = (...words: unknown[]) => Promise<unknown> | AsyncIterable<unknown>;

/** The same service, which also records all its answers: every event, every body and the text of every failure. */
function recorded<Target extends object>(target: Target, texts: string[]): Target {
  const failed = (error: unknown) => {
    if (error instanceof ParleyError)
      texts.push(JSON.stringify([error, error.message, error.hint, error.details]));
    throw error;
  };
  async function* events(all: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      for await (const event of all) {
        texts.push(JSON.stringify(event));
        yield event;
      }
    } catch (error) {
      failed(error);
    }
  }
  return new Proxy(target, {
    get(_, name) {
      const method = Reflect.get(target, name) as Method;
      return (...words: unknown[]) => {
        const answer = method.apply(target, words);
        if (Symbol.asyncIterator in answer) return events(answer);
        return answer.then((body: unknown) => {
          texts.push(JSON.stringify(body));
          return body;
        }, failed);
      };
    },
  });
}

/** The error code if the call fails. */
async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParleyError) return error.code;
    throw error;
  }
}
