// A server with the recorded responses of the real one, in which one value is replaced by a hostile text. Each field is attacked, also those that
// are added later.
import type { ServerResponse } from 'node:http';
import { openServer, type ServerFixture } from '../../server/server-fixture.ts';
import { type ReceivedRequest, type ScriptedServer, serve } from '../../support/scripted-server.ts';

/** One value of a response: its route, and its place in the body. */
export interface Field {
  readonly route: string;
  readonly path: readonly string[];
}

/** The text in place of the true value. */
export interface Lie {
  readonly field?: Field;
  readonly text: string;
  /** The status of every response, with the body of a failure whose texts are all hostile. */
  readonly status?: number;
  /** Headers of every response. */
  readonly headers?: readonly string[];
  /** In every text of every response, with `text` for values without a fixed form; see {@link allReplaced}. */
  readonly everywhere?: { readonly word: string };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  /** The body, or the events of a stream. */
  readonly body: unknown;
}

const extensions = 'archive, idempotency, stream';
const eventStream = 'text/event-stream';

export class HostileAnswers {
  readonly fixture: ServerFixture;
  readonly #answers = new Map<string, Answer>();
  #server: ScriptedServer | null = null;
  #lie: Lie | null = null;
  #isTold = false;

  private constructor(fixture: ServerFixture) {
    this.fixture = fixture;
  }

  static async open(): Promise<HostileAnswers> {
    const answers = new HostileAnswers(await openServer());
    answers.#server = await serve((request, response) => answers.#answer(request, response));
    return answers;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  async close(): Promise<void> {
    await this.#server?.close();
    await this.fixture.close();
  }

  /** Runs it with true responses, which are recorded, and returns every value in them. */
  async fieldsOf(run: () => Promise<void>): Promise<readonly Field[]> {
    this.#answers.clear();
    await run();
    return [...this.#answers].flatMap(([route, { body }]) => fields(body).map((path) => ({ route, path })));
  }

  /** The last recorded responses, with this lie in them. */
  async lying(lie: Lie, run: () => Promise<void>): Promise<void> {
    this.#lie = lie;
    this.#isTold = false;
    await run();
    this.#lie = null;
  }

  async #answer(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const route = routeOf(request);
    const lie = this.#lie;
    if (lie?.status !== undefined) return send(response, failure(lie.text, lie.status), lie);
    if (lie?.everywhere !== undefined) {
      const truth = await this.#truth(request);
      return send(
        response,
        { ...truth, body: allReplaced(truth.body, lie.text, lie.everywhere.word, []) },
        lie,
      );
    }
    const known = lie === null ? undefined : this.#answers.get(route);
    const answer = known ?? (await this.#truth(request));
    if (lie === null && !this.#answers.has(route)) this.#answers.set(route, answer);
    // An endless chain of cursors is another attack.
    const isMeant = lie?.field?.route === route && !(this.#isTold && lie.field.path.includes('next_cursor'));
    if (isMeant) this.#isTold = true;
    send(
      response,
      isMeant ? { ...answer, body: replaced(answer.body, lie.field.path, lie.text) } : answer,
      lie,
    );
  }

  async #truth({ method, path, headers, body }: ReceivedRequest): Promise<Answer> {
    const accept = String(headers.accept ?? '*/*');
    const sent = body === '' ? {} : { body, headers: { accept, 'content-type': 'application/json' } };
    const response = await this.fixture.ask(method, path, { headers: { accept }, ...sent });
    const type = response.headers.get('content-type') ?? '';
    const text = await response.text();
    return {
      status: response.status,
      type,
      body: type.startsWith(eventStream) ? eventsOf(text) : JSON.parse(text),
    };
  }
}

/** Paths with different ids and queries are one route. */
function routeOf({ method, path }: ReceivedRequest): string {
  const [bare = ''] = path.split('?');
  return `${method} ${bare.replace(/(\/sessions\/)(?!search$|batch-|import$)[^/]+/, '$1:id')}`;
}

function failure(text: string, status: number): Answer {
  const details = { [text]: text, list: [text], failure: text, remaining: text };
  const error = { code: text, message: text, details, session_id: text, message_id: text };
  return { status, type: 'application/json', body: { success: false, error, request_id: text } };
}

function send(response: ServerResponse, { status, type, body }: Answer, lie: Lie | null): void {
  const headers: Record<string, string> = { 'content-type': type, 'parley-extensions': extensions };
  for (const header of lie?.headers ?? []) headers[header] = lie?.text ?? '';
  response
    .writeHead(status, headers)
    .end(type.startsWith(eventStream) ? encoded(body) : JSON.stringify(body));
}

function eventsOf(text: string): unknown {
  return [...text.matchAll(/event: (\S+)\ndata: (.*)\n/g)].map(([, event, data]) => ({
    event,
    data: JSON.parse(data ?? 'null'),
  }));
}

function encoded(events: unknown): string {
  const all = events as readonly { readonly event: string; readonly data: unknown }[];
  return all.map(({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
}

/** The path of each value, including those of every item of a list. */
function fields(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return path.at(-1) === 'event' ? [] : [path];
  return Object.entries(value).flatMap(([name, inner]) => fields(inner, [...path, name]));
}

/** Values of a fixed form, such as ids and times, get the word. The first item of a list keeps its ids, so that it can be requested. */
function allReplaced(value: unknown, text: string, word: string, path: readonly string[]): unknown {
  const name = path.at(-1) ?? '';
  if (typeof value === 'string') {
    const isKept = name === 'event' || (name === 'role' && !path.includes('hits'));
    if (isKept || (name.endsWith('_id') && !path.some((step) => Number(step) > 0))) return value;
    return /(_id|_at|cursor|name|mode)$/.test(name) ? word : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    return value.map((inner, at) => allReplaced(inner, text, word, [...path, String(at)]));
  const fields = Object.entries(value).map(([field, inner]) => [
    field,
    allReplaced(inner, text, word, [...path, field]),
  ]);
  // An unknown field is added.
  return { ...Object.fromEntries(fields), [text]: text };
}

function replaced(value: unknown, path: readonly string[], text: string): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== 'object' || value === null) return text;
  if (Array.isArray(value))
    return value.map((inner, at) => (String(at) === first ? replaced(inner, rest, text) : inner));
  const record = value as Record<string, unknown>;
  // An unknown field is added.
  return { ...record, [first]: replaced(record[first], rest, text), [text]: text };
}
