// Prepares the settings of sessions in requests to a remote server. Only a server with the extension `settings` gets them. Without settings,
// the request has no such fields, so that every server accepts it.
import type { Call } from '../service/call.ts';
import type { SessionSettings } from '../service/session.ts';
import type { SessionChanges, SessionRecord } from '../service/session-archive.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { requireOrder, requireUsers } from './session-queries.ts';

/** The settings of a new session that are not empty. Rejects with `UNSUPPORTED` if there are some and the server cannot store them. */
export async function settingsToSend(
  connection: RemoteConnection,
  call: Call,
  settings: Partial<SessionSettings>,
): Promise<Partial<SessionSettings>> {
  const nonEmpty = nonEmptySettings(settings);
  await requireSettings(connection, call, nonEmpty);
  return nonEmpty;
}

/** The user of a new session, if there is one. Rejects with `UNSUPPORTED` if the server cannot store it. */
export async function userToSend(
  connection: RemoteConnection,
  call: Call,
  { user }: { readonly user?: string | null },
): Promise<{ readonly user?: string }> {
  if (user == null) return {};
  await requireUsers(connection, call);
  return { user };
}

/** Rejects with `UNSUPPORTED` if the server cannot store one of the changes. */
export async function checkChanges(
  connection: RemoteConnection,
  call: Call,
  { title: _, pinned, archived, tags, user, ...settings }: SessionChanges,
): Promise<void> {
  await requireSettings(connection, call, settings);
  if ([pinned, archived, tags].some((value) => value !== undefined)) await requireOrder(connection, call);
  if (user !== undefined) await requireUsers(connection, call);
}

/**
 * The record in a form that the server accepts. An older server accepts only records without settings and hidden messages. Rejects with
 * `UNSUPPORTED` if something would be lost.
 */
export async function recordToSend(
  connection: RemoteConnection,
  call: Call,
  original: SessionRecord,
): Promise<SessionRecord> {
  const withUser = await withSupportedUser(connection, call, original);
  const record = await withSupportedOrder(connection, call, withUser);
  if (record.replaces !== undefined) {
    await connection.requireExtension(call, 'sync', 'cannot replace a stored session with an imported one');
  }
  if (record.hidden_messages !== undefined) {
    await connection.requireExtension(call, 'lines', 'cannot store replaced replies and undone turns');
  }
  const { mode: _, system, parameters, parent_id, forked_at: __, user: ___, ...facts } = record.session;
  const hasOnlyFacts = Object.keys(facts).length === Object.keys(record.session).length;
  if (hasOnlyFacts || (await connection.hasExtension(call, 'settings'))) return record;
  const settings = nonEmptySettings({ system: system ?? null, parameters: parameters ?? {} });
  await requireSettings(connection, call, { ...settings, ...(parent_id != null && { parent_id }) });
  return { ...record, session: facts };
}

/** A server without the extension `order` refuses a record that has its fields, even if they are empty. */
async function withSupportedOrder(
  connection: RemoteConnection,
  call: Call,
  record: SessionRecord,
): Promise<SessionRecord> {
  const { pinned, archived, tags, ...session } = record.session;
  if (pinned || archived || (tags?.length ?? 0) > 0) {
    await requireOrder(connection, call);
    return record;
  }
  const hasOrderFields = [pinned, archived, tags].some((value) => value !== undefined);
  return hasOrderFields && !(await connection.hasExtension(call, 'order')) ? { ...record, session } : record;
}

/** A server without users refuses a record that has the field, even if it is null. */
async function withSupportedUser(
  connection: RemoteConnection,
  call: Call,
  record: SessionRecord,
): Promise<SessionRecord> {
  const { session, replaces } = record;
  if (session.user != null) await requireUsers(connection, call);
  const hasUserField = session.user !== undefined || replaces?.session.user !== undefined;
  if (!hasUserField || (await connection.hasExtension(call, 'users'))) return record;
  const withoutUser = ({ user: _, ...others }: typeof session) => others;
  return {
    ...record,
    session: withoutUser(session),
    ...(replaces !== undefined && { replaces: { ...replaces, session: withoutUser(replaces.session) } }),
  };
}

function nonEmptySettings({ system, parameters }: Partial<SessionSettings>): Partial<SessionSettings> {
  return {
    ...(system != null && { system }),
    ...(parameters !== undefined && Object.keys(parameters).length > 0 && { parameters }),
  };
}

async function requireSettings(connection: RemoteConnection, call: Call, settings: object): Promise<void> {
  const names = Object.keys(settings);
  if (names.length === 0) return;
  await connection.requireExtension(
    call,
    'settings',
    `cannot store settings of a session (${names.join(', ')})`,
  );
}
