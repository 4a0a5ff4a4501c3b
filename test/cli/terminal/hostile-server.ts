// A server whose texts a test chooses, and a terminal in this process that shows them: the context of a command, over recorded streams.
import { Writable } from 'node:stream';
import { CliContext } from '../../../src/cli/context.ts';
import { createOutput } from '../../../src/cli/terminal/output.ts';
import type { Backend } from '../../../src/service/backend.ts';
import type { Mode } from '../../../src/service/mode.ts';
import { resultOf } from '../../../src/service/result.ts';
import { type Message, noOrdering, type Session } from '../../../src/service/session.ts';
import { hostInProcess } from '../../support/host-in-process.ts';

const time = '2026-01-01T00:00:00.000Z';
const url = 'https://elsewhere.example';

export class HostileServer {
  modes: readonly Mode[] = [];
  sessions: readonly Session[] = [];
  /** Each page has one session. */
  messages: readonly Message[] = [];
  readonly context: CliContext;
  #written: string[] = [];

  /** Enough rows to cut nothing. */
  constructor(colour: boolean, columns = 400) {
    const { signal } = new AbortController();
    const outputOf = (role: 'data' | 'talk') =>
      createOutput(this.#stream(columns), {
        role,
        env: colour ? { FORCE_COLOR: '1' } : {},
        noColor: !colour,
        signal,
      });
    const host = hostInProcess({
      directory: '/nowhere',
      outputs: { stdout: outputOf('data'), stderr: outputOf('talk') },
      stdin: [],
      signal,
      newRequestId: () => 'req_1',
      openBackend: async () => ({ backend: this.#backend(), apiKey: 'none' }),
    });
    const flags = { profile: null, url, json: false, jq: null, quiet: false, progress: false };
    const others = {
      input: false,
      color: colour,
      timeout: null,
      insecureHttp: false,
      store: null,
      insecureStore: false,
      ca: null,
      debug: false,
    };
    this.context = new CliContext(host, { ...flags, ...others });
    this.context.useTarget({
      ...{ profile: null, url, key: 'none', mode: null, insecureHttp: false, replyPointer: null },
      ...{
        store: null,
        storeName: '',
        extensions: null,
        origin: url,
        sources: { profile: null, url: 'flag --url', key: null },
      },
    });
  }

  says({ modes, titles, messages }: Readonly<Record<'modes' | 'titles' | 'messages', readonly string[]>>) {
    this.modes = modes.map((name, at) => ({
      ...{ name, description: modes[at + 1] ?? '', engine: name, model: name, default: false },
    }));
    this.sessions = titles.map((title, at) => ({
      ...{ session_id: `ses_${at}`, title, created_at: time, updated_at: time, message_count: 2 },
      ...{
        mode: modes[at] ?? null,
        system: title,
        parameters: { [title]: title },
        parent_id: null,
        user: title,
        forked_at: null,
        ...noOrdering,
        tags: [title],
      },
    }));
    this.messages = messages.map((content, position) => ({
      ...{ message_id: `msg_${position}`, position, role: position % 2 === 0 ? 'user' : 'assistant' },
      ...{ content, mode: content, created_at: time, usage: null },
      finish_reason: position % 2 === 0 ? null : 'stop',
    }));
  }

  /** The output since the last call. */
  taken(): string {
    return this.#written.splice(0).join('');
  }

  #stream(columns: number): Writable {
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        this.#written.push(chunk);
        done();
      },
    });
    return Object.assign(stream, { isTTY: true as const, columns, rows: 400 });
  }

  #backend(): Backend {
    const service = {
      models: async () => resultOf(this.modes),
      getSession: async (_call: unknown, id: string) =>
        resultOf(this.sessions.find(({ session_id }) => session_id === id)),
    };
    const archive = {
      searchSessions: async () => resultOf({ items: this.sessions.map(foundIn), next_cursor: null }),
      listSessions: async () => resultOf({ items: this.sessions, next_cursor: null }),
      listMessages: async (_call: unknown, _id: string, { cursor }: { readonly cursor: string | null }) => {
        const at = Number(cursor ?? 0);
        const next = at + 1 < this.messages.length ? String(at + 1) : null;
        return resultOf({ items: this.messages.slice(at, at + 1), next_cursor: next });
      },
    };
    // No other member is used.
    return { service, archive, extensions: null, close: async () => {} } as unknown as Backend;
  }
}

/** A session whose title is also the text of its message and the name of its mode. */
function foundIn(session: Session) {
  const text = session.title ?? '';
  return { session, score: 1, hits: [{ message_id: 'msg_1', role: text, created_at: time, snippet: text }] };
}
