// The schemas of a session that is imported, with its messages.
import { z } from 'zod';
import { importedMessages } from '../service/limits.ts';
import type { SessionRecord } from '../service/session-archive.ts';
import { message, session } from './schemas.ts';

export const sessionRecord = z.strictObject({
  session,
  messages: z.array(message).meta({ maxItems: importedMessages }).describe('by position, from 0'),
  hidden_messages: z
    .array(message)
    .meta({ maxItems: importedMessages })
    .exactOptional()
    .describe('the replies that others took the place of, and the turns that were undone'),
  replaces: z
    .strictObject({
      session: session.describe('the stored session as it was read; if it has changed since: SESSION_BUSY'),
      kept_in: z
        .string()
        .nullable()
        .exactOptional()
        .describe('a session that holds the stored messages that are not in this record'),
    })
    .exactOptional()
    .describe('to take the place of the stored session with this id; every stored message is kept'),
}) satisfies z.ZodType<SessionRecord>;

/** A session to import, before the service checks it. The service reports the first fault of a record, not all of them. */
export const anyRecord = z.strictObject({
  session: z.unknown(),
  messages: z.array(z.unknown()),
  hidden_messages: z.array(z.unknown()).optional(),
  replaces: z.unknown().optional(),
});
