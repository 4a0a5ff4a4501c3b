// The schemas of the API's bodies. The schemas of requests check the requests; those of responses describe them in the OpenAPI document. A
// schema checks only the shape. The service checks the values.
import { z } from 'zod';
import type { ChatReply } from '../service/chat-event.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import { defaultLimits } from '../service/limits.ts';
import type { Mode } from '../service/mode.ts';
import type { Parameters } from '../service/model-parameters.ts';
import {
  type DeletedSession,
  finishReasons,
  type Message,
  type NewSession,
  type Page,
  type Session,
} from '../service/session.ts';
import type { BatchResult, SearchPage } from '../service/session-archive.ts';
import {
  archivedInList,
  archivedInSearch,
  conditions,
  orderingChanges,
  orderingFields,
} from './ordering-schemas.ts';

const time = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, milliseconds');
const cursor = z.string().describe('`next_cursor` of the page before');
const pageLimit = z
  .int()
  .describe(`1 to ${defaultLimits.pageItems}; ${defaultLimits.pageItemsDefault} if absent`);
const titleRule = `1 to ${defaultLimits.titleCharacters} characters, without control characters`;
const systemRule = `the session’s system prompt, which follows that of the mode: 1 to ${defaultLimits.systemBytes} bytes of UTF-8, not only white space`;
const parametersRule = `fields of each request to the model, such as \`max_tokens\`, which override those of the mode one by one; at most ${defaultLimits.parametersBytes} bytes as JSON`;
const systemPrompt = z.string();
/** Any object. `z.record` would drop a name such as `__proto__`, so the service could not refuse it. */
const parameters = z
  .unknown()
  .check(({ value, issues }) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) issues.push({ code: 'invalid_type', expected: 'record', input: value });
  })
  .meta({ type: 'object' }) as z.ZodType<unknown> as z.ZodType<Parameters>;
const userRule =
  'the person to whom the session belongs: 1 to 255 visible characters, with spaces allowed between them';
const nextCursor = z.string().nullable().describe('null after the last page');

export const nothing = z.strictObject({});

const replySchema = z
  .string()
  .describe(
    'a JSON Schema as JSON text, at most 256 KiB; the model is asked to match it, and its reply is not checked',
  );

export const chatRequest = z.strictObject({
  mode: z
    .string()
    .nullable()
    .describe(
      'name of a mode, as listed by `GET /v1/models`; null for the mode of the session (extension `mode`)',
    ),
  message: z.string().describe('1 byte to 1 MiB of UTF-8, not only white space'),
  session_id: z.string().optional().describe('the session to continue; without it, a new one is created'),
  title: z
    .string()
    .optional()
    .describe(`of a new session: ${titleRule}; without it, the first line of the message`),
  system: systemPrompt.nullable().exactOptional().describe(`of a new session: ${systemRule}; null for none`),
  parameters: parameters.exactOptional().describe(`of a new session: ${parametersRule}`),
  user: z
    .string()
    .exactOptional()
    .describe(`of a new session: ${userRule}; with session_id, it must be the user of that session`),
  schema: replySchema.exactOptional(),
});

export const createSessionRequest = z.strictObject({
  title: z.string().optional().describe(titleRule),
  system: systemPrompt.nullable().exactOptional().describe(`${systemRule}; null for none`),
  parameters: parameters.exactOptional().describe(parametersRule),
  user: z.string().exactOptional().describe(userRule),
});

export const changeSessionRequest = z.strictObject({
  title: z.string().nullable().exactOptional().describe(`${titleRule}; null for none`),
  system: systemPrompt.nullable().exactOptional().describe(`${systemRule}; null for none`),
  parameters: parameters
    .exactOptional()
    .describe(`replaces all parameters of the session: ${parametersRule}`),
  ...orderingChanges,
  user: z.string().nullable().exactOptional().describe(`${userRule}; null for none`),
});

export const regenerateRequest = z.strictObject({
  mode: z.string().exactOptional().describe('the mode that replies; without it, the mode of the session'),
  schema: replySchema.exactOptional(),
});

export const forkRequest = z.strictObject({
  through: z
    .int()
    .exactOptional()
    .describe('position of the last reply to copy; without it, the end of the last complete turn'),
  title: z
    .string()
    .nullable()
    .exactOptional()
    .describe(`${titleRule}; null for none; without it, the title of the session`),
});

const pageQuery = z.strictObject({ limit: pageLimit.optional(), cursor: cursor.optional() });

export const messageQuery = z.strictObject({
  ...pageQuery.shape,
  all: z.boolean().optional().describe('true: also replaced replies and undone turns'),
  last: z.boolean().optional().describe('true: the last `limit` messages; not with `all` or `cursor`'),
});

export const sessionQuery = z.strictObject({
  limit: pageLimit.optional(),
  cursor: cursor.optional(),
  ...conditions,
  archived: archivedInList,
  id_suffix: z.string().optional().describe('the last characters of the session id, at least 6'),
  deleted: z.boolean().optional().describe('true: the deleted sessions instead of the active ones'),
  sort: z
    .enum(['updated', 'created'])
    .optional()
    .describe('by last activity (the default) or by creation; a cursor is valid only in its own order'),
  order: z.enum(['desc', 'asc']).optional().describe('newest first (the default) or oldest first'),
});

export const searchQuery = z.strictObject({
  q: z
    .string()
    .describe(
      'words, "phrases" and prefixes (`begin*`), all of which a message must contain; 1 to 500 characters',
    ),
  limit: pageLimit.optional(),
  cursor: cursor.optional(),
  ...conditions,
  archived: archivedInSearch,
});

export const keyIdentity = z.strictObject({
  project_id: z.string(),
  project_name: z.string(),
  key_id: z.string(),
  key_name: z.string(),
  created_at: time,
}) satisfies z.ZodType<KeyIdentity>;

const mode = z.strictObject({
  name: z.string(),
  description: z.string(),
  engine: z.string(),
  model: z.string().nullable(),
  default: z.boolean(),
}) satisfies z.ZodType<Mode>;

export const newSession = z.strictObject({
  session_id: z.string(),
  title: z.string().nullable(),
  created_at: time,
  message_count: z.int().describe('stored messages of the user and of the assistant'),
}) satisfies z.ZodType<NewSession>;

export const session = z.strictObject({
  ...newSession.shape,
  updated_at: time.describe('the last activity'),
  mode: z.string().nullable().describe('of the last turn; null before the first one'),
  system: z.string().nullable().describe('the session’s system prompt; null for none'),
  parameters: parameters.describe('the session’s parameters, which override those of the mode one by one'),
  parent_id: z.string().nullable().describe('the session that this one was copied from'),
  forked_at: z.int().nullable().describe('the position of the last message that was copied from the parent'),
  ...orderingFields,
  user: z.string().nullable().describe('the person to whom the session belongs; null for none'),
}) satisfies z.ZodType<Session>;

export const deletedSession = z.strictObject({
  session_id: z.string(),
  deleted_at: time,
}) satisfies z.ZodType<DeletedSession>;

const finishReason = z.enum(finishReasons);
export const usage = z.strictObject({ input_tokens: z.int(), output_tokens: z.int() });

export const message = z.strictObject({
  message_id: z.string(),
  position: z.int(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  mode: z.string(),
  finish_reason: finishReason.nullable(),
  usage: usage.nullable(),
  created_at: time,
  error_code: z
    .string()
    .exactOptional()
    .describe('of a reply that ended in `error`: the code of the failure; absent otherwise'),
  alternative_of: z
    .string()
    .exactOptional()
    .describe('of a replaced reply: the `message_id` of the message that it answers'),
  undone_at: time.exactOptional().describe('of a message whose turn was undone'),
}) satisfies z.ZodType<Message>;

export const chatReply = z.strictObject({
  session_id: z.string(),
  message_id: z.string(),
  mode: z.string(),
  reply: z.string(),
  finish_reason: finishReason,
  created_at: time,
  message_count: z.int(),
  usage: usage.nullable(),
  turns_left_out: z
    .int()
    .exactOptional()
    .describe(
      'earlier turns that were not sent to the model, because they do not fit into its context; absent if there are none',
    ),
}) satisfies z.ZodType<Omit<ChatReply, 'turns_left_out'>>;

export const modes = z.array(mode) satisfies z.ZodType<readonly Mode[]>;

const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({ items: z.array(item), next_cursor: nextCursor });
export const sessionPage = pageOf(session) satisfies z.ZodType<Page<Session>>;
export const messagePage = pageOf(message) satisfies z.ZodType<Page<Message>>;

export const searchPage = z.strictObject({
  items: z.array(
    z.strictObject({
      session,
      score: z.number().describe('of the best hit; comparable within one query'),
      hits: z
        .array(
          z.strictObject({
            message_id: z.string(),
            role: z.enum(['user', 'assistant']),
            created_at: time,
            snippet: z.string().describe('plain text on one line, each hit between ⟦ and ⟧'),
          }),
        )
        .describe('the best messages of the session, at most three'),
    }),
  ),
  next_cursor: nextCursor,
  newest_only: z
    .boolean()
    .describe('true: there are too many hits to rank; only the newest 10,000 were ranked'),
}) satisfies z.ZodType<SearchPage>;

export const movedTurn = z.strictObject({
  session,
  message: message.describe('the user’s message of the turn'),
});

const batchResult = <Status extends string>(done: Status) =>
  z.strictObject({
    items: z.array(z.strictObject({ session_id: z.string(), status: z.enum([done, 'not_found']) })),
  });
export const deletionResult = batchResult('deleted') satisfies z.ZodType<BatchResult<'deleted'>>;
export const restorationResult = batchResult('restored') satisfies z.ZodType<BatchResult<'restored'>>;
