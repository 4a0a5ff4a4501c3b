// The memory of a parsed body, in multiples of its bytes: bodies whose few bytes would become large values are refused, or take little.
import { type HeapProfiler, Session } from 'node:inspector/promises';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { parseJsonBody } from '../../src/server/json-body.ts';
import { operationShapes } from '../../src/server/operation-shapes.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { openServer, requestOf } from './server-fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const size = 128 * 1024;
const bounds = { depth: 8, values: 100, lists: operationShapes.importSession.lists };

/** A body with as many items as fit into the size. */
function messages(item: (index: number) => string): string {
  const items: string[] = [];
  for (let length = 0, index = 0; length < size; index++) {
    const text = item(index);
    items.push(text);
    length += text.length + 1;
  }
  return `{"session":{},"messages":[${items.join(',')}]}`;
}

const fields = {
  message_id: 'm',
  position: 0,
  role: 'user',
  content: 'x',
  mode: 'x',
  finish_reason: null,
  usage: null,
  created_at: '2026-01-31T00:00:00.000Z',
};
/** The same fields in ever-new orders. V8 makes a hidden class for each order. */
function inAnotherOrder(index: number): string {
  const left = Object.entries(fields);
  const ordered: Record<string, unknown> = {};
  for (let rest = index * 7919; left.length > 0; rest = Math.floor(rest / 8) + index * 31) {
    for (const [name, value] of left.splice(rest % left.length, 1)) ordered[name] = value;
  }
  return JSON.stringify(ordered);
}

const shapes: Readonly<Record<string, () => string>> = {
  'empty objects': () => messages(() => '{}'),
  'empty lists': () => messages(() => '[]'),
  'lists in lists': () => messages(() => '[[[[]]]]'),
  digits: () => messages(() => '0'),
  fractions: () => messages(() => '1.5'),
  'empty texts': () => messages(() => '""'),
  'short texts': () => messages(() => '"ж"'),
  'texts of eight bytes': () => messages(() => '"жaжaж"  '),
  'objects with ever-new names': () => messages((index) => `{"${index.toString(36)}":0}`),
  'spaced objects with ever-new names': () => messages((index) => `{"${index}k":0}`.padEnd(27)),
  'objects with ever-new names in objects': () => messages((index) => `{"usage":{"${index}":0}}`.padEnd(30)),
  'messages with all their fields': () => messages(() => JSON.stringify(fields)),
  'messages in ever-new orders': () => messages(inAnotherOrder),
  'a text of escapes': () => `{"session":{},"messages":[{"content":"${'\\n'.repeat(size / 2)}"}]}`,
  'a text of letters of two bytes': () => `{"session":{},"messages":[{"content":"${'ж'.repeat(size / 2)}"}]}`,
  'a text with one wide letter': () => `{"session":{},"messages":[{"content":"ж${'x'.repeat(size)}"}]}`,
  'a session of ever-new fields': () =>
    `{"session":{${Array.from({ length: size / 10 }, (_, at) => `"${at}k":0`)}},"messages":[]}`,
};

function usedMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The value of a body; undefined if the body is refused. */
async function readValue(body: Buffer): Promise<unknown> {
  try {
    return await parseJsonBody(body, bounds, () => new Promise((resolve) => setImmediate(resolve)));
  } catch (error) {
    if (error instanceof ParleyError) return undefined;
    throw error;
  }
}

test('whatever its shape, the value of a body takes less than ten times the bytes of the body', async () => {
  const values: unknown[] = [];
  const bodies = Object.entries(shapes).map(([name, make]) => [name, Buffer.from(make())] as const);
  // The first calls also allocate memory for code.
  for (const [, body] of bodies) await readValue(body);
  const timesOf = async (body: Buffer) => {
    const before = usedMemory();
    values.push(await readValue(body));
    return (usedMemory() - before) / body.length;
  };
  for (const [name, body] of bodies) {
    // Other work of this process can only add to the memory.
    const times = Math.min(await timesOf(body), await timesOf(body));
    expect(times, `${name}: ${times}`).toBeLessThan(10);
  }
  expect(values.filter((value) => value !== undefined)).toHaveLength(10);
});

test.each([
  ['empty objects', /holds more values than a list of its length can have/],
  ['spaced objects with ever-new names', /messages\[0\]\.0k is not a field of this request/],
  ['a session of ever-new fields', /holds more than the 100 values/],
])('%s are refused', async (name, problem) => {
  const body = Buffer.from(shapes[name]?.() ?? '');
  await expect(parseJsonBody(body, bounds, () => Promise.resolve())).rejects.toThrow(problem);
});

test('reading very many short messages allocates less than seven times their bytes, including garbage', async () => {
  const body = Buffer.from(shapes['messages with all their fields']?.() ?? '');
  await readValue(body);
  expect((await allocatedBy(() => readValue(body))) / body.length).toBeLessThan(7);
});

test.each([
  ['without a key', false],
  ['with an idempotency key', true],
])(
  'to import 9,998 short messages %s takes less than ten times their bytes, garbage and all',
  async (_name, hasKey) => {
    const server = await openServer();
    const send = async (id: string, body: Buffer) => {
      const headers = {
        'content-type': 'application/json',
        'content-length': `${body.length}`,
        ...(hasKey && { 'idempotency-key': id }),
      };
      const request = requestOf(server.key, 'POST', '/v1/sessions/import', { headers });
      const answer = await server.app.fetch(request, Readable.from([body]));
      expect(answer.status).toBe(200);
    };
    const body = recordOf('ses_measured', 9_998);
    // The first import also compiles code.
    await send('ses_of_the_first', recordOf('ses_of_the_first', 9_998));
    const bytes = await allocatedBy(() => send('ses_measured', body));
    await server.close();
    // The bytes of the body itself are in a buffer, which is not in V8's heap.
    const times = 1 + bytes / body.length;
    expect(times, `${times}`).toBeLessThan(10);
  },
);

/** The bytes of all objects that the work makes in V8's heap, including collected ones. One object per KiB is sampled. */
async function allocatedBy(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 1024,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  return allocated(profile.head);
}
function recordOf(session: string, count: number): Buffer {
  const time = '2024-05-01T12:00:00.000Z';
  const messages = Array.from({ length: count }, (_, position) => ({
    ...{ message_id: `m${position}`, position, role: position % 2 === 0 ? 'user' : 'assistant' },
    ...{ content: `word ${position}`, mode: 'echo', finish_reason: position % 2 === 0 ? null : 'stop' },
    ...{ usage: null, created_at: time },
  }));
  const facts = {
    session_id: session,
    title: null,
    created_at: time,
    updated_at: time,
    message_count: count,
  };
  return Buffer.from(JSON.stringify({ session: facts, messages }));
}

function allocated({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number {
  return children.reduce((size, child) => size + allocated(child), selfSize);
}

test('a body in chunks of one byte takes less than ten times its bytes while it arrives', async () => {
  const server = await openServer();
  const length = 60 * 1024;
  let sent = 0;
  let allSent = () => {};
  const isSent = new Promise<void>((resolve) => {
    allSent = resolve;
  });
  // Node's parser makes such chunks: each has a buffer of its own.
  const body = new Readable({
    highWaterMark: 16,
    read() {
      if (sent < length) this.push(Buffer.alloc(1, 'x'));
      else allSent();
      sent += 1;
    },
  });
  const before = usedMemory();
  const headers = { 'transfer-encoding': 'chunked' };
  const answer = server.app.fetch(requestOf(server.key, 'POST', '/v1/sessions', { headers }), body);
  await isSent;
  const held = usedMemory() - before;
  body.push(null);
  expect((await answer).status).toBe(415);
  await server.close();
  expect(held / length).toBeLessThan(10);
});
