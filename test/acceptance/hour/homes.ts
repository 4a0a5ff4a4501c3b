// The backends of the hour: embedded or through a server, over SQLite or PostgreSQL. The first step is `parley setup` where the modes are kept;
// then two modes of the model that it finds are added.

import { expect } from 'vitest';
import { Place, type Variables } from '../../support/parley.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { servePlace } from '../../support/served-place.ts';
import type { Line, SessionRow } from './expected-session.ts';
import { MarkdownModel } from './markdown-model.ts';
import { Shell } from './shell.ts';

export interface Home {
  readonly name: string;
  /** The place of the user. */
  readonly place: Place;
  readonly env: Variables;
  /** What the prompt of the REPL adds to the mode. */
  readonly at: string;
  readonly model: MarkdownModel;
  sessions(): Promise<readonly SessionRow[]>;
  line(sessionId: string): Promise<Line>;
  close(): Promise<void>;
}

interface MessageRow {
  readonly role: string;
  readonly mode: string;
  readonly content: string;
}

const sessionColumns = 'session_id, title, mode, system, parameters, parent_id, message_count';

export async function openHome(
  kind: 'embedded' | 'served',
  database: PostgresDatabase | null,
): Promise<Home> {
  const model = await MarkdownModel.open();
  const store = new Place();
  const env: Variables =
    database === null
      ? {}
      : { PARLEY_STORE: `postgres://${database.user}@127.0.0.1:${database.port}/${database.database}` };
  await setUp(store, env, model);
  await store.output(['modes', 'add', 'own', '--like', 'large', '--default'], { env });
  await store.output(['modes', 'add', 'other', '--like', 'own'], { env });
  const client = kind === 'served' ? await clientOf(store, env) : null;
  const rows = async <Row>(sql: string) => {
    if (database !== null) return (await database.rows(sql)) as readonly Row[];
    return store.rows<Row>(sql.replaceAll('parley.', ''));
  };
  return {
    name: `${kind}, ${database === null ? 'SQLite' : 'PostgreSQL'}`,
    place: client?.place ?? store,
    env: client === null ? env : {},
    at: client === null ? '' : '@far',
    model,
    sessions: () =>
      rows<SessionRow>(`SELECT ${sessionColumns} FROM parley.sessions WHERE deleted_at IS NULL`),
    async line(id) {
      const ofSession = `WHERE session = (SELECT id FROM parley.sessions WHERE session_id = '${id}')`;
      const visible = await rows<MessageRow>(
        `SELECT role, mode, content FROM parley.messages ${ofSession} ORDER BY position`,
      );
      const hidden = await rows<{ content: string; undone_at: unknown }>(
        `SELECT content, undone_at FROM parley.hidden_messages ${ofSession}`,
      );
      return {
        visible: visible.map(({ role, mode, content }) => `${role} ${mode}: ${content.trimEnd()}`),
        hidden: hidden
          .map(
            ({ content, undone_at }) =>
              `${undone_at === null ? 'alternative' : 'undone'}: ${content.trimEnd()}`,
          )
          .sort(),
      };
    },
    async close() {
      await client?.close();
      store.remove();
      await model.close();
    },
  };
}

/** The first step: the model is found among others on this machine, tested once, and becomes the default. */
async function setUp(store: Place, env: Variables, model: MarkdownModel): Promise<void> {
  const own = { OLLAMA_HOST: new URL(model.url).host, NO_COLOR: '1', NO_PROXY: '*', HISTFILE: '' };
  const shell = new Shell(store.shellScreen({ columns: 150, rows: 40, env: { ...env, ...own } }));
  try {
    await shell.open(
      'parley setup',
      '? Which models should become modes? Type to narrow the list; Enter selects an item.',
    );
    shell.screen.type('large');
    await shell.screen.shows('❯ [ ] large (Ollama)');
    shell.screen.type('\r');
    await shell.screen.shows('Continue with 1 selected');
    shell.screen.type('\r');
    await shell.screen.shows('large replied, and is now the default mode.');
    expect(await shell.run('parley modes list')).toMatch(/^\* +large +large /m);
    expect(await shell.run('parley chat "Is it there?"')).toContain(`End of ${model.turns.length}.`);
    await shell.run('parley sessions delete --yes "Is it there?"');
  } finally {
    shell.screen.close();
  }
  model.turns.length = 0;
}

/** A user elsewhere, with a key of the server. */
async function clientOf(store: Place, env: Variables) {
  const { key } = await store.answer<{ key: string }>(['keys', 'create', '--project', 'team'], { env });
  const served = await servePlace(store, [], env);
  const place = new Place();
  await place.output(['login', '--url', served.url, '--profile', 'far', '--key-stdin'], { stdin: key });
  return {
    place,
    async close() {
      await served.end('SIGTERM');
      place.remove();
    },
  };
}
