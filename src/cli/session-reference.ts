// A session as a person names it: by its full id, by the last characters of the id, or by its title. A full id costs no request and no
// time. Everything else is looked up (session-look-up.ts), where the service has an archive.
import { ParleyError } from '../service/errors.ts';
import { defaultLimits } from '../service/limits.ts';
import { quoted } from '../service/quoted.ts';
import { failureBody } from '../service/result.ts';
import { isSessionId, type Session } from '../service/session.ts';
import type { CliContext } from './context.ts';
import type { SessionState } from './session-look-up.ts';
import { notAnId } from './terminal/session-ids.ts';

export type Asking = Pick<CliContext, 'open' | 'call' | 'requestId'>;

/** Ids of this service begin so. A text that begins so is an id, whatever the titles are. */
function isFullId(text: string): boolean {
  return /^ses_[\w-]{1,200}$/.test(text);
}

/** Throws `USAGE` for a text that names no session: an empty one, or one that is no id and no title. */
export function requireReference(text: string): void {
  if (isSessionId(text)) return;
  const isTitle = text.trim() !== '' && [...text].length <= defaultLimits.titleCharacters;
  if (isTitle && text !== '.' && text !== '..' && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) return;
  throw notAnId(text);
}

/**
 * The id of the session that is meant, and the session if it was looked up. A service that is not known to have an archive is sent the text
 * as it is. Throws `USAGE` if several sessions are meant.
 */
export async function meantSession(
  text: string,
  context: Asking,
  state: SessionState = 'active',
): Promise<{ readonly id: string; readonly session: Session | null }> {
  requireReference(text);
  const asItIs = { id: text, session: null };
  if (isFullId(text)) return asItIs;
  const { backend } = await context.open();
  if (isSessionId(text) && backend.extensions?.includes('archive') !== true) return asItIs;
  const session = await lookedUp(text, context, state);
  if (session !== null) return { id: session.session_id, session };
  if (isSessionId(text)) return asItIs;
  throw new ParleyError('SESSION_NOT_FOUND', notThere(text), { hint: whichThereAre[state] });
}

/** The same for several texts, which are all checked first. A server whose extensions are not known yet is asked for them. */
export async function meantSessions(
  texts: readonly string[],
  context: Asking,
  state: SessionState = 'active',
): Promise<readonly { readonly id: string; readonly session: Session | null }[]> {
  texts.forEach(requireReference);
  if (!texts.every(isFullId)) {
    const { backend } = await context.open();
    if (backend.extensions === null) await backend.service.verify(await context.call()).catch(ignoreLack);
  }
  const meant: { readonly id: string; readonly session: Session | null }[] = [];
  for (const text of texts) meant.push(await meantSession(text, context, state));
  return meant;
}

/** A server may not verify keys. */
function ignoreLack(error: unknown): void {
  if (!(error instanceof ParleyError) || error.kind === 'key' || error.kind === 'transient') throw error;
}

/**
 * Runs the work with the id of the session that is meant. Where the first answer of a server tells that it has an archive, and that the
 * text is no id, the session is looked up and the work runs again. A session that is not there is named in the failure.
 */
export async function withSession<T>(
  text: string,
  context: Asking,
  work: (id: string) => Promise<T>,
  state: SessionState = 'active',
): Promise<T> {
  const { id } = await meantSession(text, context, state);
  try {
    return await work(id);
  } catch (error) {
    const other = id === text ? await sessionMeantAfter(error, text, context, state) : null;
    if (other === null) throw missingSession(error, text, context, state);
    return work(other.session_id);
  }
}

/** As {@link withSession}, for work that gives items. `id` is what the text means as far as that is known. */
export async function* readInSession<Item>(
  { text, id }: { readonly text: string; readonly id: string },
  context: Asking,
  read: (id: string) => AsyncIterable<Item>,
): AsyncGenerator<Item, void> {
  let isBegun = false;
  try {
    for await (const item of read(id)) {
      isBegun = true;
      yield item;
    }
  } catch (error) {
    const other = isBegun || id !== text ? null : await sessionMeantAfter(error, text, context);
    if (other === null) throw missingSession(error, text, context);
    yield* read(other.session_id);
  }
}

/** The session that is meant by a text that was sent as an id, and was none; null if there is no other. */
async function sessionMeantAfter(
  error: unknown,
  text: string,
  context: Asking,
  state: SessionState = 'active',
): Promise<Session | null> {
  if (!isMissing(error) || isFullId(text)) return null;
  const { backend } = await context.open();
  return backend.extensions?.includes('archive') ? lookedUp(text, context, state) : null;
}

/** The failure, which names the session if that is not there. The body stays the one of the service. */
function missingSession(
  error: unknown,
  text: string,
  { requestId }: Pick<Asking, 'requestId'>,
  state: SessionState = 'active',
): unknown {
  if (!isMissing(error)) return error;
  if (error.message.includes(text)) return error;
  return error.with({
    message: notThere(text),
    hint: whichThereAre[state],
    body: failureBody(error, requestId),
  });
}

const whichThereAre = {
  active: 'It may be deleted, or belong to another project. See: parley sessions list',
  deleted: 'Only a deleted session can be restored. See: parley sessions list --deleted',
} as const satisfies Record<SessionState, string>;

function notThere(text: string): string {
  return isFullId(text)
    ? `There is no session ${text} here.`
    : `There is no session with the id, the end of an id, or the title ${quoted(text)}.`;
}

function isMissing(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.code === 'SESSION_NOT_FOUND';
}

async function lookedUp(text: string, context: Asking, state: SessionState): Promise<Session | null> {
  const { lookUpSession } = await import('./session-look-up.ts');
  return lookUpSession(text, context, state);
}
