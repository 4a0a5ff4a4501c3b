// Imports one session unless it exists already. A session that grew in its source is extended. If it diverged here and in its source, the
// source's version becomes a new session. Nothing is overwritten.

import { offers } from '../../service/backend.ts';
import { hasCode, ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { SessionRecord } from '../../service/session-archive.ts';
import { sortedTags } from '../../service/sorted-tags.ts';
import type { Pacer } from '../batch/pacer.ts';
import type { CliContext } from '../context.ts';
import { isRedactionOf } from '../secrets/redacted-text.ts';
import { storeUnlessTaken } from '../session-batch/store-unless-taken.ts';
import { readMessages } from '../transcripts/session-reading.ts';
import { sessionIdOf } from './conversation-record.ts';
import type { ImportSession } from './import-item.ts';

export interface SessionImport {
  readonly session_id: string;
  readonly status: 'imported' | 'unchanged' | 'grown' | 'skipped';
  readonly reason?: string;
  /** The session that diverged from the source here. */
  readonly fork_of?: string;
}

export interface SessionImportOptions {
  readonly pacer: Pacer;
  readonly signal: AbortSignal;
  readonly dryRun: boolean;
  /** Tags for the imported sessions. */
  readonly tags: readonly string[];
  readonly creations: SessionCreations;
}

/** A record of the sessions that an import creates. */
export interface SessionCreations {
  /** Called before a session is created. */
  record(sessionId: string): Promise<void>;
  /** Called if the archive refused the session. */
  withdraw(sessionId: string): void;
  /** Runs work that looks for a session and creates it while no other import on this machine does. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

/** How often a conversation may diverge. */
const maxForks = 20;

export async function importSession(
  { record: original, branch }: ImportSession,
  options: SessionImportOptions,
  context: CliContext,
): Promise<SessionImport> {
  const importer = new SessionImporter(options, context);
  const record = withTags(original, options.tags);
  if (branch === null) return importer.importOwn(record);
  const { session_id } = record.session;
  for (let fork = 0; fork < maxForks; fork += 1) {
    const id = fork === 0 ? session_id : sessionIdOf(branch.source, branch.conversation, branch.branch, fork);
    const result = await importer.importForeign(record, id, fork === 0 ? null : session_id);
    if (result !== null) return result;
  }
  return { session_id, status: 'skipped', reason: 'too_many_forks' };
}

/** A record of another form stays unchanged, because the service validates it. */
function withTags(record: SessionRecord, tags: readonly string[]): SessionRecord {
  if (tags.length === 0 || typeof record?.session !== 'object' || record.session === null) return record;
  const own: unknown = record.session.tags ?? [];
  if (!Array.isArray(own) || own.some((tag) => typeof tag !== 'string')) return record;
  return { ...record, session: { ...record.session, tags: sortedTags([...own, ...tags]) } };
}

class SessionImporter {
  readonly #options: SessionImportOptions;
  readonly #context: CliContext;

  constructor(options: SessionImportOptions, context: CliContext) {
    this.#options = options;
    this.#context = context;
  }

  /** A session that Parley exported keeps its id. The service compares it with an existing one. */
  async importOwn(record: SessionRecord): Promise<SessionImport> {
    // The service validates the record, so it may have any shape here.
    const id: unknown = (record as Partial<SessionRecord> | null)?.session?.session_id;
    const session_id = typeof id === 'string' ? id : '';
    const isId = /^ses_[\w-]{1,200}$/.test(session_id);
    const { dryRun } = this.#options;
    const before = await this.#exclusively(async () => {
      const existing = isId ? await this.#find(session_id) : null;
      if (existing !== null || dryRun) return existing;
      if (!isId) await this.#store(record);
      else if (!(await this.#create(record))) return 'deleted';
      return null;
    });
    if (before === null) return { session_id, status: 'imported' };
    if (before === 'deleted') return { session_id, status: 'skipped', reason: 'deleted' };
    if (dryRun) {
      const isLonger = record.messages.length > before.message_count;
      return { session_id, status: isLonger ? 'grown' : 'unchanged' };
    }
    const after = await this.#store(record);
    return { session_id, status: after.message_count > before.message_count ? 'grown' : 'unchanged' };
  }

  /** Null if the session with this id diverged here. */
  async importForeign(
    original: SessionRecord,
    session_id: string,
    forkOf: string | null,
  ): Promise<SessionImport | null> {
    const marks = forkOf === null ? {} : { fork_of: forkOf };
    const record = forkOf === null ? original : { ...original, session: { ...original.session, session_id } };
    const status = await this.#exclusively(() => this.#createUnlessExists(record, forkOf));
    if (status === 'imported') return { session_id, status, ...marks };
    if (status === 'deleted') return { session_id, status: 'skipped', reason: 'deleted', ...marks };
    const { missing, visible, redacted } = await this.#compare(session_id, record);
    if (missing === null) return { session_id, status: 'unchanged', ...marks };
    if (missing < visible) return null;
    if (this.#options.dryRun || (await storeUnlessTaken(() => this.#store(redacted))))
      return { session_id, status: 'grown', ...marks };
    return null;
  }

  async #createUnlessExists(
    record: SessionRecord,
    forkOf: string | null,
  ): Promise<'imported' | 'exists' | 'deleted'> {
    const { session_id } = record.session;
    if ((await this.#find(session_id)) !== null) return 'exists';
    if (this.#options.dryRun) return 'imported';
    const stored = forkOf === null ? await this.#branchOf(record) : await this.#forkOf(forkOf, record);
    if (await this.#create(stored)) return 'imported';
    // An import on another machine has stored the session meanwhile, or it was deleted here.
    return (await this.#find(session_id)) === null ? 'deleted' : 'exists';
  }

  /** The record with the texts of its parent that were redacted here. */
  async #branchOf(record: SessionRecord): Promise<SessionRecord> {
    const { parent_id } = record.session;
    if (parent_id == null || (await this.#find(parent_id)) === null) return record;
    return (await this.#compare(parent_id, record)).redacted;
  }

  /** The record as a fork of the session whose first messages it has. */
  async #forkOf(sessionId: string, record: SessionRecord): Promise<SessionRecord> {
    const { missing, redacted } = await this.#compare(sessionId, record);
    const shared = missing ?? 0;
    if (shared === 0) return redacted;
    return { ...redacted, session: { ...record.session, parent_id: sessionId, forked_at: shared - 1 } };
  }

  /**
   * Records the session in the journal before it is stored, and withdraws it if the archive refuses the session. Resolves to false if another
   * session has the id.
   */
  async #create(record: SessionRecord): Promise<boolean> {
    const { creations } = this.#options;
    const { session_id } = record.session;
    await creations.record(session_id);
    try {
      const isStored = await storeUnlessTaken(() => this.#store(record));
      if (!isStored) creations.withdraw(session_id);
      return isStored;
    } catch (error) {
      if (error instanceof ParleyError && error.kind === 'input') creations.withdraw(session_id);
      throw error;
    }
  }

  /** A dry run creates nothing, so it does not wait for other imports. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { dryRun, creations } = this.#options;
    return dryRun ? work() : creations.exclusively(work);
  }

  async #find(sessionId: string): Promise<Session | null> {
    try {
      return await this.#paced(async () => {
        const { backend } = await this.#context.open();
        backend.shareReads?.();
        return (await backend.service.getSession(await this.#call(), sessionId)).data;
      });
    } catch (error) {
      if (hasCode(error, 'SESSION_NOT_FOUND')) return null;
      throw error;
    }
  }

  #store(record: SessionRecord): Promise<Session> {
    return this.#paced(async () => {
      const { backend } = await this.#context.open();
      backend.shareReads?.();
      return (await backend.archive.importSession(await this.#call(), record)).data;
    });
  }

  /**
   * The first message of the record that is not stored, and how many stored messages are visible. Undone messages and alternatives count as stored.
   * `redacted` is the record with the texts that were redacted here, which an import does not bring back.
   */
  async #compare(sessionId: string, record: SessionRecord) {
    const texts = new Map<string, string>();
    let visible = 0;
    const { backend } = await this.#context.open();
    const all = offers(backend, 'lines');
    for await (const { items } of readMessages(sessionId, this.#context, all)) {
      for (const { message_id, content, alternative_of, undone_at } of items) {
        texts.set(message_id, content);
        if (alternative_of === undefined && undone_at === undefined) visible += 1;
      }
    }
    const messages = record.messages.map((message) => {
      const stored = texts.get(message.message_id) ?? message.content;
      const isRedacted = stored !== message.content && isRedactionOf(stored, message.content);
      return isRedacted ? { ...message, content: stored } : message;
    });
    const at = messages.findIndex(({ message_id, content }) => texts.get(message_id) !== content);
    return { missing: at === -1 ? null : at, visible, redacted: { ...record, messages } };
  }

  #paced<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.pacer.run(work);
  }

  async #call() {
    return { ...(await this.#context.call()), signal: this.#options.signal, pacesItself: true };
  }
}
