// Projects, keys and the state of the store, for the owner of the store. No key is asked for, because there may be none yet.
import type {
  Administration,
  CreatedKey,
  CreateKeyRequest,
  ErasureReport,
  KeyRecord,
  PurgeExecution,
  PurgePlan,
  PurgeReport,
  PurgeRequest,
  RedactionRequest,
  StoreReport,
  UsageQuery,
  UsageRecord,
} from '../service/administration.ts';
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
import type { PurgeFilter } from '../store/session-filters.ts';
import { hashKey, issueKey } from './api-keys.ts';
import type { LocalOptions } from './local-options.ts';
import { checkTitle, readTime } from './text-rules.ts';
import { sessionNotFound } from './turn-failures.ts';

export class LocalAdministration implements Administration {
  readonly #local: LocalOptions;

  constructor(local: LocalOptions) {
    this.#local = local;
  }

  async createKey(request: CreateKeyRequest): Promise<CreatedKey> {
    const { store, limits, random, ids } = this.#local;
    checkTitle(request.project_name, limits, 'project');
    checkTitle(request.key_name, limits, 'name');
    const now = this.#local.now();
    const key = issueKey(random);
    const record = await store.createKey({
      key_id: ids.next('key', now),
      key_name: request.key_name,
      hash: hashKey(key),
      project_name: request.project_name,
      project_id: ids.next('prj', now),
      now,
    });
    return { ...record, key };
  }

  listKeys(): Promise<readonly KeyRecord[]> {
    return this.#local.store.listKeys();
  }

  async revokeKey(keyId: string): Promise<KeyRecord> {
    const record = await this.#local.store.revokeKey(keyId, this.#local.now());
    if (record === null) {
      throw new ParleyError('NOT_FOUND', `There is no key with the id ${quoted(keyId)}.`, {
        remedy: { kind: 'list_keys' },
      });
    }
    return record;
  }

  inspectStore(): Promise<StoreReport> {
    return this.#local.store.inspect();
  }

  async planPurge(request: PurgeRequest): Promise<PurgePlan> {
    return this.#local.store.planPurge(this.#purgeFilter(request));
  }

  async purgeSessions(request: PurgeExecution): Promise<PurgeReport> {
    const { store, limits } = this.#local;
    const keptSince = this.#local.now() - limits.idempotencyMs;
    const filter = this.#purgeFilter(request);
    const expected = request.expected_sessions;
    const purge = await store.purgeSessions(filter, {
      expected,
      keptSince,
      rewrites: request.rewrite ?? false,
    });
    if (purge.kind === 'other_count') throw otherCount(purge.sessions, expected);
    return purge.report;
  }

  async redactSession(request: RedactionRequest): Promise<void> {
    const { project_id, session_id, messages, changes } = request;
    const redactions = this.#local.store.redactions();
    const { kind } = await redactions.redact(project_id, session_id, { messages, changes });
    if (kind === 'not_found') throw sessionNotFound();
    if (kind === 'busy' || kind === 'changed') throw inUse(kind, session_id);
  }

  eraseRedacted({ rewrite }: { readonly rewrite: boolean }): Promise<ErasureReport> {
    return this.#local.store.redactions().overwrite({ rewrites: rewrite });
  }

  sessionsWith(texts: readonly string[], limit: number): Promise<readonly string[]> {
    return this.#local.store.redactions().holders(texts, limit);
  }

  holdsAny(project_id: string, session_ids: readonly string[]): Promise<boolean> {
    return this.#local.store.holdsAny(project_id, session_ids);
  }

  #purgeFilter({ project_id, deleted_before }: PurgeRequest): PurgeFilter {
    const before = readTime('deleted_before', deleted_before) ?? 0;
    return { projectId: project_id, deletedBefore: before };
  }

  usage({ since, by }: UsageQuery): Promise<readonly UsageRecord[]> {
    return this.#local.store.usage(readTime('since', since) ?? 0, by);
  }
}

function otherCount(found: number, expected: number): ParleyError {
  return new ParleyError('INVALID_REQUEST', `There are ${found} sessions to erase, not ${expected}.`, {
    hint: 'Nothing was erased.',
    remedy: { kind: 'count_again' },
    details: [{ field: 'expected_sessions', problem: `there are ${found}` }],
  });
}

function inUse(kind: 'busy' | 'changed', session_id: string): ParleyError {
  const what = kind === 'busy' ? 'A turn runs in' : 'A text changed meanwhile in';
  return new ParleyError('SESSION_BUSY', `${what} the session ${session_id}.`, {
    hint: 'Nothing of it was replaced. Try again.',
    session_id,
  });
}
