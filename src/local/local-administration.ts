// Projects, keys and the state of the store, for the owner of the store. No key is asked for, because there may be none yet.
import type {
  Administration,
  CreatedKey,
  CreateKeyRequest,
  ExportRecord,
  KeyRecord,
  RedactionRequest,
  StoreReport,
  UsageQuery,
  UsageRecord,
} from '../service/administration.ts';
import type { AuditEntry, AuditHead, AuditQuery, AuditVerification } from '../service/audit-entry.ts';
import type {
  ErasureReport,
  PurgeExecution,
  PurgePlan,
  PurgeReport,
  PurgeRequest,
  UserPurgeExecution,
  UserPurgePlan,
  UserPurgeReport,
  UserPurgeRequest,
} from '../service/erasure.ts';
import { ParleyError } from '../service/errors.ts';
import type { Retention } from '../service/project-retention.ts';
import { quoted } from '../service/quoted.ts';
import type { PurgeFilter } from '../store/session-filters.ts';
import { hashKey, isKey, issueKey } from './api-keys.ts';
import { inUse, otherCount } from './erasure-failures.ts';
import type { LocalOptions } from './local-options.ts';
import { maxNamedIds } from './read-exports.ts';
import { checkTitle, readTime } from './text-rules.ts';
import { sessionNotFound } from './turn-failures.ts';
import { wrongField } from './wrong-field.ts';

const noKeyMade = 'No key was made.';

export class LocalAdministration implements Administration {
  readonly #local: LocalOptions;

  constructor(local: LocalOptions) {
    this.#local = local;
  }

  async retention(): Promise<Retention> {
    const { LocalRetention } = await import('./local-retention.ts');
    return new LocalRetention(this.#local, await this.#local.store.retention());
  }

  usage({ since, by }: UsageQuery): Promise<readonly UsageRecord[]> {
    return this.#local.store.usage(readTime('since', since) ?? 0, by);
  }

  async createKey(request: CreateKeyRequest): Promise<CreatedKey> {
    const { store, limits, random, ids } = this.#local;
    checkTitle(request.project_name, limits, 'project');
    checkTitle(request.key_name, limits, 'name');
    const now = this.#local.now();
    const expires_at = readTime('expires_at', request.expires_at ?? null);
    checkLimits(request, expires_at, now);
    const key = issueKey(random);
    const record = await store.createKey({
      key_id: ids.next('key', now),
      key_name: request.key_name,
      hash: hashKey(key),
      project_name: request.project_name,
      project_id: ids.next('prj', now),
      now,
      scope: request.scope ?? null,
      expires_at,
      turns_per_day: request.turns_per_day ?? null,
      tokens_per_day: request.tokens_per_day ?? null,
    });
    return { ...record, key };
  }

  listKeys(): Promise<readonly KeyRecord[]> {
    return this.#local.store.listKeys();
  }

  async revokeKey(keyId: string): Promise<KeyRecord> {
    const record = await this.#local.store.revokeKey(keyId, this.#local.now());
    if (record !== null) return record;
    // A key is a secret, so the error does not quote it.
    const message = isKey(keyId)
      ? 'That is a key, not the id of a key.'
      : `There is no key with the id ${quoted(keyId)}.`;
    throw new ParleyError('INVALID_REQUEST', message, { remedy: { kind: 'list_keys' } });
  }

  async inspectStore(): Promise<StoreReport> {
    const { store } = this.#local;
    const report = await store.inspect();
    if (report.integrity === 'ok') await store.ping();
    return report;
  }

  async planPurge(request: PurgeRequest): Promise<PurgePlan> {
    return this.#local.store.planPurge(this.#purgeFilter(request));
  }

  async purgeSessions(request: PurgeExecution): Promise<PurgeReport> {
    const { store, limits, now } = this.#local;
    const expected = request.expected_sessions;
    const purge = await store.purgeSessions(this.#purgeFilter(request), {
      expected,
      keptSince: now() - limits.idempotencyMs,
      rewrites: request.rewrite ?? false,
      by: this.#owner(),
      erased: request.onErased,
    });
    if (purge.kind === 'other_count') throw otherCount(purge.sessions, expected);
    return purge.report;
  }

  async planUserPurge(request: UserPurgeRequest): Promise<UserPurgePlan> {
    return (await import('./user-purge.ts')).planUserPurge(this.#local, request);
  }

  async purgeUser(request: UserPurgeExecution): Promise<UserPurgeReport> {
    return (await import('./user-purge.ts')).purgeUser(this.#local, request, this.#owner());
  }

  async linesOf(request: UserPurgeRequest, lines: readonly string[]): Promise<readonly string[]> {
    return (await import('./user-purge.ts')).linesOf(this.#local, request, lines);
  }

  async *auditEntries(query: AuditQuery): AsyncGenerator<AuditEntry> {
    yield* (await this.#audit()).entries(query);
  }

  async newestAuditEntries(query: AuditQuery, limit: number): Promise<readonly AuditEntry[]> {
    return (await this.#audit()).newestEntries(query, limit);
  }

  async verifyAudit(noted: AuditHead | null): Promise<AuditVerification> {
    return (await this.#audit()).verify(noted);
  }

  async recordExport({ project_id, key_id, session_ids }: ExportRecord): Promise<void> {
    for (let at = 0; at < session_ids.length; at += maxNamedIds) {
      const ids = session_ids.slice(at, at + maxNamedIds);
      await this.#local.store.audit.record({
        ...this.#owner(),
        what: 'export',
        project_id,
        key_id,
        count: ids.length,
        ids,
      });
    }
  }

  async redactSession(request: RedactionRequest): Promise<void> {
    const { project_id, session_id, messages, changes } = request;
    const redactions = await this.#local.store.redactions();
    const { kind } = await redactions.redact(project_id, session_id, {
      messages,
      changes,
      by: this.#owner(),
    });
    if (kind === 'not_found') throw sessionNotFound();
    if (kind === 'busy' || kind === 'changed') throw inUse(kind, session_id);
  }

  async eraseRedacted({ rewrite }: { readonly rewrite: boolean }): Promise<ErasureReport> {
    return (await this.#local.store.redactions()).overwrite({ rewrites: rewrite });
  }

  async sessionsWith(texts: readonly string[], limit: number): Promise<readonly string[]> {
    return (await this.#local.store.redactions()).holders(texts, limit);
  }

  holdsAny(projectId: string, sessionIds: readonly string[]): Promise<boolean> {
    return this.#local.store.holdsAny(projectId, sessionIds);
  }

  async #audit() {
    const { LocalAudit } = await import('./local-audit.ts');
    return new LocalAudit(this.#local.store.audit);
  }

  #owner() {
    return { time: this.#local.now(), key_id: null, request_id: null };
  }

  #purgeFilter({ project_id, deleted_before }: PurgeRequest): PurgeFilter {
    return { projectId: project_id, deletedBefore: readTime('deleted_before', deleted_before) ?? 0 };
  }
}

function checkLimits(request: CreateKeyRequest, expiresAt: number | null, now: number): void {
  if (expiresAt !== null && expiresAt <= now)
    throw wrongField('expires_at', 'is a time that has passed', noKeyMade);
  for (const field of ['turns_per_day', 'tokens_per_day'] as const) {
    const budget = request[field] ?? null;
    if (budget !== null && !(Number.isSafeInteger(budget) && budget > 0))
      throw wrongField(field, 'must be a whole number from 1', noKeyMade);
  }
}
