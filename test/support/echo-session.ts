// Sessions of the mode `echo`, made and read on the command line.
import type { SessionRecord } from '../../src/service/session-archive.ts';
import type { Place } from './parley.ts';

/** Sends the messages in a new session, and returns its id. */
export async function echoSession(
  place: Pick<Place, 'output'>,
  messages: readonly string[],
): Promise<string> {
  const id = (await place.output(['sessions', 'create'])).trim();
  for (const message of messages) await place.output(['chat', '-n', '-m', 'echo', '-s', id, '--', message]);
  return id;
}

/** The session with its messages, as an export has it. */
export async function exportedRecord(place: Pick<Place, 'output'>, id: string): Promise<SessionRecord> {
  return JSON.parse(await place.output(['sessions', 'export', id, '--format', 'json']));
}
