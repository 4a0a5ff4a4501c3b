// Makes a hash of each session of a project: over the session, its messages and their usage. Equal hashes mean equal sessions.
import { createHash, hash } from 'node:crypto';
import type {
  PartPage,
  PartPlace,
  SessionHead,
  SessionPart,
  StoredMessage,
  StoreRows,
} from '../store/store-rows.ts';

export interface SessionDigest {
  readonly session_id: string;
  readonly messages: number;
  /** SHA-256 of the messages. */
  readonly texts: Buffer;
  /** SHA-256 of the session and its messages, in hex. */
  readonly hash: string;
}

/** Takes the parts of a project in their order, and gives the digest of a session when the next one begins. */
export class PartDigester {
  #open: {
    readonly session: SessionHead;
    readonly head: string;
    readonly texts: ReturnType<typeof createHash>;
    messages: number;
  } | null = null;

  add({ session, messages }: SessionPart): SessionDigest | null {
    const head = headText(session);
    let endedDigest: SessionDigest | null = null;
    if (this.#open === null || this.#open.session.session_id !== session.session_id) {
      endedDigest = this.end();
      this.#open = { session, head, texts: createHash('sha256'), messages: 0 };
      // If the session's row changes between two of its parts, the hash contains both rows and so differs.
    } else if (head !== this.#open.head) this.#open.texts.update(head);
    this.#open.messages += messages.length;
    // The hash must not depend on the cut of the pages, so nothing separates the texts.
    this.#open.texts.update(messages.map(messageText).join(''));
    return endedDigest;
  }

  /** The digest of the last session; null if there is none. */
  end(): SessionDigest | null {
    if (this.#open === null) return null;
    const { session, texts: hashed, messages } = this.#open;
    this.#open = null;
    const texts = hashed.digest();
    return { session_id: session.session_id, messages, texts, hash: sessionHash(session, texts) };
  }
}

/** The hash of a session whose messages have this one. */
export function sessionHash(session: SessionHead, texts: Buffer): string {
  return hash('sha256', `${texts.toString('hex')}${headText(session)}`);
}

/** The digests of all sessions of a project, in the order of their ids. */
export async function* sessionDigests(
  rows: Pick<StoreRows, 'readParts'>,
  projectId: string,
  signal: AbortSignal,
): AsyncGenerator<SessionDigest> {
  const digester = new PartDigester();
  const read = (place: PartPlace | null): Promise<PartPage> => {
    const page = rows.readParts(projectId, place);
    // The signal or the consumer may stop before this page. Its failure is then no unhandled rejection.
    page.catch(() => {});
    return page;
  };
  let following: Promise<PartPage> | null = read(null);
  while (following !== null) {
    signal.throwIfAborted();
    const page: PartPage = await following;
    // The next page is read while this one is hashed.
    following = page.next === null ? null : read(page.next);
    for (const part of page.parts) {
      const endedDigest = digester.add(part);
      if (endedDigest !== null) yield endedDigest;
    }
  }
  const lastDigest = digester.end();
  if (lastDigest !== null) yield lastDigest;
}

export interface DigestPair {
  readonly session_id: string;
  /** Null if that store has no such session. */
  readonly original: SessionDigest | null;
  readonly copy: SessionDigest | null;
  /** True if the copy has neither this session nor a later one. */
  readonly isCopyOver: boolean;
}

/** The sessions of both stores, each with its counterpart. Ids are ASCII, so their UTF-16 units have the order of their bytes. */
export async function* pairDigests(
  originals: AsyncGenerator<SessionDigest>,
  copies: AsyncGenerator<SessionDigest>,
): AsyncGenerator<DigestPair> {
  const next = async (from: AsyncGenerator<SessionDigest>) =>
    (await from.next()).value as SessionDigest | undefined;
  let [original, copy] = await Promise.all([next(originals), next(copies)]);
  while (original !== undefined || copy !== undefined) {
    const isCopyOver = copy === undefined;
    const session_id = smaller(original?.session_id, copy?.session_id);
    const isInOriginal = original?.session_id === session_id;
    const isInCopy = copy?.session_id === session_id;
    yield {
      session_id,
      isCopyOver,
      original: (isInOriginal && original) || null,
      copy: (isInCopy && copy) || null,
    };
    [original, copy] = await Promise.all([
      isInOriginal ? next(originals) : original,
      isInCopy ? next(copies) : copy,
    ]);
  }
}

function smaller(one: string | undefined, other: string | undefined): string {
  if (one === undefined || other === undefined) return one ?? other ?? '';
  return one < other ? one : other;
}

// NUL separates the fields, because no text in a store holds a NUL.
function headText(one: SessionHead): string {
  const { session_id, title, created_at, updated_at, message_count, deleted_at, turn_position, turn_epoch } =
    one;
  const { mode, parent_id, forked_at, parameters, system } = one;
  const { pinned, archived, user_id } = one;
  const texts = [title, mode, parent_id, parameters, system, one.tags].map((text) =>
    text === null ? '' : `is ${text}`,
  );
  return `${session_id}\0${texts.join('\0')}\0${created_at} ${updated_at} ${message_count} ${deleted_at} ${turn_position} ${turn_epoch} ${forked_at} ${one.undone_turns} ${pinned} ${archived}${user_id === null ? '' : `\0${user_id}`}`;
}

function messageText(one: StoredMessage): string {
  const { position, message_id, role, content, mode, finish_reason, error_code, created_at } = one;
  const counts = `${one.input_tokens} ${one.output_tokens} ${one.first_token_ms} ${one.is_copy}`;
  const hidden = `${one.alternative_of}\0${one.undone_at}`;
  return `\0\0${position}\0${message_id}\0${role}\0${mode}\0${finish_reason}\0${error_code}\0${created_at} ${counts}\0${hidden}\0${content}`;
}
