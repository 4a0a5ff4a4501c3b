// Resolves the name of a session: its full id, the last characters of its id, or its title. A full id needs no request. Everything else is
// looked up (session-lookup.ts), if the service has an archive.
import { offers } from '../service/backend.ts';
import { hasCode, ParleyError } from '../service/errors.ts';
import { defaultLimits } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import { failureBody } from '../service/result.ts';
import { isSessionId, type Session } from '../service/session.ts';
import type { CliContext, ServiceAccess } from './context.ts';
import type { SessionState } from './session-lookup.ts';
import { notAnId } from './terminal/session-ids.ts';

export type SessionAccess = Pick<CliContext, 'open' | 'call' | 'requestId'>;

interface ResolvedSession {
  readonly id: string;
  /** Null if the session was not looked up. */
  readonly session: Session | null;
}

/** The form of this service's ids. A text of this form is always an id, never a title. */
function isFullId(text: string): boolean {
  return /^ses_[\w-]{1,200}$/.test(text);
}

/** Throws `USAGE` for a text that can be neither an id nor a title. */
export function requireReference(text: string): void {
  if (text === '-') {
    throw new ParleyError('USAGE', '- names no session: no id is read from stdin here.', {
      hint: 'Name the session by its id, the last 6 or more characters of its id, or its title.',
    });
  }
  if (isSessionId(text)) return;
  const isTitle = text.trim() !== '' && [...text].length <= defaultLimits.titleCharacters;
  if (isTitle && text !== '.' && text !== '..' && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) return;
  throw notAnId(text);
}

/**
 * Resolves a name. If the service is not known to have an archive, the name is used as the
 * id. Throws `USAGE` if several sessions match.
 */
export async function resolveSession(
  text: string,
  context: SessionAccess,
  state: SessionState = 'active',
): Promise<ResolvedSession> {
  requireReference(text);
  const asId = { id: text, session: null };
  if (isFullId(text)) return asId;
  const { backend } = await context.open();
  if (isSessionId(text) && !offers(backend, 'archive')) return asId;
  const session = await lookUp(text, context, state);
  if (session !== null) return { id: session.session_id, session };
  if (isSessionId(text)) return asId;
  throw new ParleyError('SESSION_NOT_FOUND', notFoundMessage(text), { hint: notFoundHints[state] });
}

/** Resolves several names after checking them all. A server whose extensions are not known yet is asked for them. */
export async function resolveSessions(
  texts: readonly string[],
  context: SessionAccess,
  state: SessionState = 'active',
): Promise<readonly ResolvedSession[]> {
  texts.forEach(requireReference);
  if (!texts.every(isFullId)) {
    const { backend } = await context.open();
    if (backend.extensions === null)
      await backend.service.verify(await context.call()).catch(ignoreUnsupported);
  }
  const resolved: ResolvedSession[] = [];
  for (const text of texts) resolved.push(await resolveSession(text, context, state));
  return resolved;
}

/** A server may not support the verification of keys. */
function ignoreUnsupported(error: unknown): void {
  if (!(error instanceof ParleyError) || error.kind === 'key' || error.kind === 'transient') throw error;
}

/**
 * Runs the work with the id of the named session. If the first response of a server shows that it has an archive and that the text is not an
 * id, the session is looked up and the work runs again. The failure for a missing session contains the text.
 */
export async function withSession<T>(
  text: string,
  context: SessionAccess,
  work: (id: string) => Promise<T>,
  state: SessionState = 'active',
): Promise<T> {
  const { id } = await resolveSession(text, context, state);
  try {
    return await work(id);
  } catch (error) {
    const other = id === text ? await lookUpAfterFailure(error, text, context, state) : null;
    if (other === null) throw missingSession(error, text, context, state);
    return work(other.session_id);
  }
}

/** The session with this id. */
export async function fetchSession(id: string, context: ServiceAccess): Promise<Session> {
  const { backend } = await context.open();
  return (await backend.service.getSession(await context.call(), id)).data;
}

/** The session with this name, as in {@link withSession}. */
export function fetchNamedSession(text: string, context: SessionAccess): Promise<Session> {
  return withSession(text, context, (id) => fetchSession(id, context));
}

/** Like {@link withSession}, for work that yields items. `id` is the result of {@link resolveSession}. */
export async function* readInSession<Item>(
  { text, id }: { readonly text: string; readonly id: string },
  context: SessionAccess,
  read: (id: string) => AsyncIterable<Item>,
): AsyncGenerator<Item, void> {
  let hasItems = false;
  try {
    for await (const item of read(id)) {
      hasItems = true;
      yield item;
    }
  } catch (error) {
    const other = hasItems || id !== text ? null : await lookUpAfterFailure(error, text, context);
    if (other === null) throw missingSession(error, text, context);
    yield* read(other.session_id);
  }
}

/** Looks up a text that was sent as an id but is none. Null if there is no such session or the failure is another. */
async function lookUpAfterFailure(
  error: unknown,
  text: string,
  context: SessionAccess,
  state: SessionState = 'active',
): Promise<Session | null> {
  if (!isMissing(error) || isFullId(text)) return null;
  const { backend } = await context.open();
  return offers(backend, 'archive') ? lookUp(text, context, state) : null;
}

/** Adds the name of the session to the failure if it is missing there. The body of the service stays unchanged. */
export function missingSession(
  error: unknown,
  text: string,
  { requestId }: Pick<SessionAccess, 'requestId'>,
  state: SessionState = 'active',
  isFromStdin = false,
): unknown {
  return isMissing(error) ? withSessionName(error, text, { requestId }, state, isFromStdin) : error;
}

/** The failure for a missing session with the name of the session, if the message lacks it. A text from stdin was not looked up as a title. */
export function withSessionName(
  error: ParleyError,
  text: string,
  { requestId }: Pick<SessionAccess, 'requestId'>,
  state: SessionState,
  isFromStdin = false,
): ParleyError {
  if (error.message.includes(text)) return error;
  const isOnlyId = isFromStdin && !isFullId(text);
  return error.with({
    message: isOnlyId ? `No session has the id ${quoted(text)}.` : notFoundMessage(text),
    hint: isOnlyId ? stdinHint : notFoundHints[state],
    body: failureBody(error, requestId),
  });
}

const stdinHint =
  'Standard input takes whole ids. The end of an id, or a title, is found only as an argument. See: parley sessions list --ids';

/** The commands that list sessions, at the end of a hint. The REPL has its own. */
export const listCommands = ' See: parley sessions list, or parley sessions list --deleted';

const notFoundHints = {
  active: `It may be deleted, or belong to another project.${listCommands}`,
  deleted: 'Only a deleted session can be restored. See: parley sessions list --deleted',
} as const satisfies Record<SessionState, string>;

function notFoundMessage(text: string): string {
  return isFullId(text)
    ? `There is no session ${text} here.`
    : `No session has the id, end of an id, or title ${quoted(text)}.`;
}

function isMissing(error: unknown): error is ParleyError {
  return hasCode(error, 'SESSION_NOT_FOUND');
}

async function lookUp(text: string, context: SessionAccess, state: SessionState): Promise<Session | null> {
  const { lookUpSession } = await import('./session-lookup.ts');
  return lookUpSession(text, context, state);
}
