// Completes values that only the service or the configuration knows. Gives up quickly and silently, and never creates a store or a key.
import { listProfiles } from '../../config/profiles.ts';
import type { Backend } from '../../service/backend.ts';
import type { Call } from '../../service/call.ts';
import { anySession } from '../../service/session-archive.ts';
import type { CliContext } from '../context.ts';
import { filterText } from '../terminal/filter.ts';
import type { LiveKind } from './value-kind.ts';

export interface Candidate {
  readonly value: string;
  /** Untrusted text. Empty for no description. */
  readonly description: string;
}

/** The longest wait at Tab. */
const timeoutMs = 900;
/** Without a beginning, a longer list would be useless. */
const newestSessions = 10;
const maxSessions = 100;

/** The values that may complete `beginning`. Empty after any failure. */
export async function liveValues(
  kind: LiveKind,
  beginning: string,
  context: CliContext,
): Promise<readonly Candidate[]> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<readonly Candidate[]>((resolve) => {
    timer = setTimeout(() => {
      stop.abort();
      resolve([]);
    }, timeoutMs);
  });
  const found = findValues(kind, beginning, stop.signal, context).catch(() => []);
  try {
    return (await Promise.race([found, timeout])).filter(({ value }) => isHarmless(value));
  } finally {
    clearTimeout(timer);
  }
}

async function findValues(
  kind: LiveKind,
  beginning: string,
  signal: AbortSignal,
  context: CliContext,
): Promise<readonly Candidate[]> {
  if (kind === 'profile') return profiles(context);
  if (kind === 'template') return templates(signal, context);
  const { host } = context;
  const { backend, apiKey } = await host.openBackend(context.target, {
    timeout: timeoutMs / 1000,
    authorityFile: context.options.ca,
    onlyExisting: true,
    beginsStore: false,
    followsModes: false,
    say: async () => {},
    trace: null,
  });
  try {
    const call = {
      apiKey,
      signal,
      idempotencyKey: null,
      requestId: host.newRequestId(),
      pacesItself: false,
      showReasoning: false,
    };
    return await values[kind](backend, call, beginning);
  } finally {
    await backend.close();
  }
}

const values: Readonly<
  Record<
    Exclude<LiveKind, 'profile' | 'template'>,
    (backend: Backend, call: Call, beginning: string) => Promise<readonly Candidate[]>
  >
> = {
  async mode({ service }, call) {
    const { data } = await service.models(call);
    return data.map(({ name, description }) => ({ value: name, description }));
  },
  session: (backend, call, beginning) => sessions(backend, call, beginning, false),
  'deleted session': (backend, call, beginning) => sessions(backend, call, beginning, true),
  async key({ administration }) {
    const keys = (await administration?.listKeys()) ?? [];
    return keys
      .filter(({ revoked_at }) => revoked_at === null)
      .map(({ key_id, key_name, project_name }) => ({
        value: key_id,
        description: `${key_name}, project ${project_name}`,
      }));
  },
};

async function sessions(
  { archive }: Backend,
  call: Call,
  beginning: string,
  deleted: boolean,
): Promise<readonly Candidate[]> {
  const { data } = await archive.listSessions(call, {
    limit: beginning === '' ? newestSessions : maxSessions,
    cursor: null,
    ...anySession,
    archived: deleted || beginning !== '' ? null : false,
    deleted,
  });
  return data.items.map(({ session_id, title }) => ({ value: session_id, description: title ?? 'no title' }));
}

function profiles({ host }: CliContext): readonly Candidate[] {
  return listProfiles(host.profileFile.read()).map(({ name, url }) => ({
    value: name,
    description: url ?? 'embedded',
  }));
}

async function templates(signal: AbortSignal, { host }: CliContext): Promise<readonly Candidate[]> {
  const { templatesOf } = await import('../chat-template.ts');
  return (await templatesOf(host).list(signal)).map(({ name, template, problem }) => ({
    value: name,
    description: problem ?? template?.title ?? template?.mode ?? '',
  }));
}

/**
 * A server may return any names. A name is offered only if it is one word and cannot be read as an option or as a line of the protocol.
 */
function isHarmless(value: string): boolean {
  return value !== '' && !/^[-:]|[\t\r\n]/.test(value) && filterText(value) === value;
}
