// The settings of sessions in requests to a server elsewhere. Only a server with the extension `settings` gets them; where there is nothing
// to keep, every server gets the request without them.
import type { Call } from '../service/call.ts';
import type { SessionSettings } from '../service/session.ts';
import type { SessionChanges, SessionRecord } from '../service/session-archive.ts';
import type { RemoteConnection } from './remote-connection.ts';
import { hasExtension, requireExtension } from './required-extension.ts';
import { requireOrder, requireUsers } from './session-queries.ts';

/** The settings that are given and not empty, for a session that is to be created. Rejects with `UNSUPPORTED` if the server keeps none. */
export async function settingsToSend(
  connection: RemoteConnection,
  call: Call,
  given: Partial<SessionSettings>,
): Promise<Partial<SessionSettings>> {
  const settings = notEmpty(given);
  await requireSettings(connection, call, settings);
  return settings;
}

/** The user of a session that is to be created, if there is one. Rejects with `UNSUPPORTED` if the server keeps none. */
export async function userToSend(
  connection: RemoteConnection,
  call: Call,
  { user }: { readonly user?: string | null },
): Promise<{ readonly user?: string }> {
  if (user == null) return {};
  await requireUsers(connection, call);
  return { user };
}

/** Rejects with `UNSUPPORTED` if the changes name settings, and the server keeps none. */
export async function checkChanges(
  connection: RemoteConnection,
  call: Call,
  { title: _, pinned, archived, tags, user, ...settings }: SessionChanges,
): Promise<void> {
  await requireSettings(connection, call, settings);
  if ([pinned, archived, tags].some((given) => given !== undefined)) await requireOrder(connection, call);
  if (user !== undefined) await requireUsers(connection, call);
}

/**
 * The record as the server can take it. An older server takes records without settings and hidden messages, so it gets no session that has
 * some.
 */
export async function recordToSend(
  connection: RemoteConnection,
  call: Call,
  full: SessionRecord,
): Promise<SessionRecord> {
  const record = await withKnownUser(connection, call, full);
  const { pinned, archived, tags, ...session } = record.session;
  const isOrdered = pinned || archived || (tags?.length ?? 0) > 0;
  if (isOrdered) await requireOrder(connection, call);
  const tellsOrder = [pinned, archived, tags].some((told) => told !== undefined);
  const keepsOrder = !tellsOrder || isOrdered || (await hasExtension(connection, call, 'order'));
  const given = keepsOrder ? record : { ...record, session };
  const { mode: _, system, parameters, parent_id, forked_at: __, user: ___, ...facts } = session;
  if (record.replaces !== undefined) {
    await requireExtension(connection, call, 'sync', 'replaces no stored session by an imported one');
  }
  if (record.hidden_messages !== undefined) {
    await requireExtension(connection, call, 'lines', 'keeps no replaced replies and no undone turns');
  }
  const isOlder = Object.keys(facts).length === Object.keys(record.session).length;
  if (isOlder || (await hasExtension(connection, call, 'settings'))) return given;
  const settings = notEmpty({ system: system ?? null, parameters: parameters ?? {} });
  await requireSettings(connection, call, { ...settings, ...(parent_id != null && { parent_id }) });
  return { ...given, session: facts };
}

/** A server without users takes no record that names one, and none with the field. */
async function withKnownUser(
  connection: RemoteConnection,
  call: Call,
  record: SessionRecord,
): Promise<SessionRecord> {
  const { session, replaces } = record;
  if (session.user != null) await requireUsers(connection, call);
  const isTold = session.user !== undefined || replaces?.session.user !== undefined;
  if (!isTold || (await hasExtension(connection, call, 'users'))) return record;
  const without = ({ user: _, ...others }: typeof session) => others;
  return {
    ...record,
    session: without(session),
    ...(replaces !== undefined && { replaces: { ...replaces, session: without(replaces.session) } }),
  };
}

function notEmpty({ system, parameters }: Partial<SessionSettings>): Partial<SessionSettings> {
  return {
    ...(system != null && { system }),
    ...(parameters !== undefined && Object.keys(parameters).length > 0 && { parameters }),
  };
}

async function requireSettings(connection: RemoteConnection, call: Call, settings: object): Promise<void> {
  const names = Object.keys(settings);
  if (names.length === 0) return;
  await requireExtension(
    connection,
    call,
    'settings',
    `keeps no settings with a session (${names.join(', ')})`,
  );
}
