// Remembers the messages of the sessions that are copied, by 32 bytes for each session, so that the comparison reads the original's
// messages only once. What is changed in the original later shows in its session rows, which the comparison reads again.
import type { SessionHead, SessionPart, StoreRows } from '../store/store-rows.ts';
import { PartDigester, type SessionDigest, sessionHash } from './session-digests.ts';

const hashBytes = 32;

export class CopiedTexts {
  readonly #digester = new PartDigester();
  #hashes = Buffer.alloc(hashBytes * 1024);
  #count = 0;

  /** The parts of a project, in their order. */
  add(parts: readonly SessionPart[]): void {
    for (const part of parts) this.#keep(this.#digester.add(part));
  }

  end(): void {
    this.#keep(this.#digester.end());
  }

  /** Yields the digests of the copy up to the first session that differs from the original, and null for that one. */
  async *compare(
    originals: AsyncGenerator<SessionHead>,
    copies: AsyncGenerator<SessionDigest>,
  ): AsyncGenerator<SessionDigest | null> {
    for (let index = 0; ; index += 1) {
      const [original, copy] = await Promise.all([originals.next(), copies.next()]);
      if (original.done && copy.done && index === this.#count) return;
      const texts = this.#hashes.subarray(index * hashBytes, (index + 1) * hashBytes);
      const isEqual =
        !original.done &&
        !copy.done &&
        index < this.#count &&
        sessionHash(original.value, texts) === copy.value.hash;
      yield isEqual ? copy.value : null;
      if (!isEqual) return;
    }
  }

  #keep(digest: SessionDigest | null): void {
    if (digest === null) return;
    const at = this.#count * hashBytes;
    if (at === this.#hashes.length) this.#hashes = Buffer.concat([this.#hashes], at * 2);
    digest.texts.copy(this.#hashes, at);
    this.#count += 1;
  }
}

/** The sessions of a project without their messages, in the order of their ids. */
export async function* sessionHeads(
  rows: Pick<StoreRows, 'readHeads'>,
  projectId: string,
): AsyncGenerator<SessionHead> {
  let heads = await rows.readHeads(projectId, null);
  for (let last = heads.at(-1); last !== undefined; last = heads.at(-1)) {
    const following = rows.readHeads(projectId, last.session_id);
    following.catch(() => {});
    yield* heads;
    heads = await following;
  }
}
