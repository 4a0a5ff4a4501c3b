// Runs `parley sessions search --secrets`: reads every active session of the project, page by page, and prints where secrets are, never what
// they are. Memory holds only a few pages.
import { offers } from '../../../service/backend.ts';
import { hasCode } from '../../../service/errors.ts';
import type { Session } from '../../../service/session.ts';
import { yieldToEventLoop } from '../../../system/yield-to-event-loop.ts';
import { itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { type SecretPlace, secretsOfMessage, secretsOfSession } from '../../secrets/secret-places.ts';
import { oneLine } from '../../terminal/filter.ts';
import { toJson } from '../../terminal/json.ts';
import { readMessages } from '../../transcripts/session-reading.ts';
import { everyActiveSession } from './every-session.ts';

/** How many sessions are requested ahead, because a round trip to a server or a database takes longer than the search. */
const sessionsAhead = 8;

export async function searchSecrets(context: CliContext): Promise<void> {
  const { stdout } = context;
  const total = context.stderr.formats && !context.options.quiet ? await countMessages(context) : null;
  // The progress line is cleared before each result.
  const progress = itemProgress(context, 'searched', total);
  const kinds = new Map<string, number>();
  const found = { sessions: 0, secrets: 0 };
  try {
    for await (const { session, pages } of openedAhead(context)) {
      let foundInSession = 0;
      const report = async (places: readonly SecretPlace[]) => {
        if (places.length === 0) return;
        foundInSession += places.length;
        for (const { kind } of places) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        progress.clear();
        await stdout.write(places.map((place) => lineOf(place, context)).join(''));
      };
      await report(secretsOfSession(session));
      for await (const { items } of pages) {
        // The embedded service answers without I/O, so signals and progress need this pause.
        await yieldToEventLoop();
        context.signal.throwIfAborted();
        for (const message of items) {
          await report(secretsOfMessage(session.session_id, message));
          progress.finish('searched');
        }
      }
      found.secrets += foundInSession;
      if (foundInSession > 0) found.sessions += 1;
    }
  } finally {
    progress.stop();
  }
  const searched = counted(progress.finished, 'message');
  if (found.secrets === 0) return context.say(`No known kind of secret in ${searched}.`);
  const byKind = [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ');
  await context.say(
    `${counted(found.secrets, 'secret')} in ${counted(found.sessions, 'session')}, of ${searched}: ${byKind}.`,
  );
}

/** Counts all messages. Reading the listing is quick compared to reading the messages. */
async function countMessages(context: CliContext): Promise<number> {
  const progress = itemProgress(context, 'found', null);
  try {
    let count = 0;
    for await (const { message_count } of everyActiveSession(context)) {
      count += message_count;
      progress.finish('found');
      await yieldToEventLoop();
    }
    return count;
  } finally {
    progress.stop();
  }
}

interface OpenedSession {
  readonly session: Session;
  readonly pages: AsyncIterable<MessagePage>;
}

type MessagePage = Awaited<ReturnType<ReturnType<typeof readMessages>['next']>>['value'] & object;

/** Every active session, while the first pages of the next ones are being fetched. */
async function* openedAhead(context: CliContext): AsyncGenerator<OpenedSession, void> {
  const all = offers((await context.open()).backend, 'lines');
  const waiting: OpenedSession[] = [];
  for await (const session of everyActiveSession(context)) {
    waiting.push({ session, pages: prefetched(readMessages(session.session_id, context, all)) });
    const next = waiting.length > sessionsAhead ? waiting.shift() : undefined;
    if (next !== undefined) yield next;
  }
  yield* waiting;
}

/** Requests the first page immediately. A session that is deleted meanwhile has no more pages. */
function prefetched(pages: ReturnType<typeof readMessages>): AsyncIterable<MessagePage> {
  const first = pages.next();
  // The failure is thrown when the page is read.
  first.catch(() => {});
  return (async function* () {
    try {
      for (let page = await first; page.done !== true; page = await pages.next()) yield page.value;
    } catch (error) {
      if (!hasCode(error, 'SESSION_NOT_FOUND')) throw error;
    }
  })();
}

function lineOf(place: SecretPlace, { options, stdout }: CliContext): string {
  if (options.json) return `${toJson(place)}\n`;
  const { session_id, message_id, position, kind, start, end, prefix } = place;
  if (!stdout.isTerminal) {
    const fields = [session_id, message_id ?? '', position ?? '', place.place, start, end, kind, prefix];
    return `${fields.map((field) => oneLine(String(field))).join('\t')}\n`;
  }
  const where = position === null ? place.place : `message ${position}`;
  return `${session_id}  ${where}, characters ${start} to ${end}: ${kind}${prefix === '' ? '' : ` (${oneLine(prefix)}…)`}\n`;
}
