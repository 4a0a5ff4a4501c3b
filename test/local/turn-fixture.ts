// A store for a test of turns, opened once or several times as by several processes, with engines of the test.
import type { Backend } from '../../src/service/backend.ts';
import { callWith } from '../support/calls.ts';
import { type EmbeddedOptions, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

export class TurnFixture {
  readonly path: string;
  readonly #remove: () => Promise<void>;
  readonly #homes: Backend[] = [];

  private constructor(directory: Awaited<ReturnType<typeof temporaryDirectory>>) {
    this.path = directory.path;
    this.#remove = () => directory.remove();
  }

  static async create(): Promise<TurnFixture> {
    return new TurnFixture(await temporaryDirectory());
  }

  /** A backend over the store, and a key that is created in it. */
  async open(options: EmbeddedOptions): Promise<{ backend: Backend; key: string }> {
    const backend = await openEmbedded(this.path, options);
    this.#homes.push(backend);
    return { backend, key: await newKey(backend, 'project') };
  }

  async close(): Promise<void> {
    for (const backend of this.#homes) await backend.close();
    await this.#remove();
  }
}

export const request = (message: string, session_id: string | null = null) => ({
  mode: 'test',
  message,
  session_id,
});

/** The stored messages of a session: role, text, and how each ended. */
export async function storedMessages(backend: Backend, key: string, sessionId: string) {
  const { data } = await backend.archive.listMessages(callWith(key), sessionId, { limit: 200, cursor: null });
  return data.items.map(({ role, content, finish_reason }) => [role, content, finish_reason]);
}
