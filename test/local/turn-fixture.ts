// A store of its own for a test of turns, opened once or as often as processes would, with engines that the test decides.
import type { Home } from '../../src/service/home.ts';
import { callWith } from '../support/calls.ts';
import { type EmbeddedOptions, newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';

export class TurnFixture {
  readonly path: string;
  readonly #remove: () => Promise<void>;
  readonly #homes: Home[] = [];

  private constructor(directory: Awaited<ReturnType<typeof temporaryDirectory>>) {
    this.path = directory.path;
    this.#remove = () => directory.remove();
  }

  static async create(): Promise<TurnFixture> {
    return new TurnFixture(await temporaryDirectory());
  }

  /** A home over the store, and a key that is made in it. */
  async open(options: EmbeddedOptions): Promise<{ home: Home; key: string }> {
    const home = await openEmbedded(this.path, options);
    this.#homes.push(home);
    return { home, key: await newKey(home, 'project') };
  }

  async close(): Promise<void> {
    for (const home of this.#homes) await home.close();
    await this.#remove();
  }
}

export const request = (message: string, session_id: string | null = null) => ({
  mode: 'test',
  message,
  session_id,
});

/** What is kept of a session: who said what, and how it ended. */
export async function kept(home: Home, key: string, sessionId: string) {
  const { data } = await home.archive.listMessages(callWith(key), sessionId, { limit: 200, cursor: null });
  return data.items.map(({ role, content, finish_reason }) => [role, content, finish_reason]);
}
