// A chat whose reply must match a schema. If a reply does not match, the model is asked again in another turn of the same session. The chat ends
// with `done` for a reply that matches, and otherwise with `SCHEMA_MISMATCH`.
import { createHash } from 'node:crypto';
import type { Call } from '../../service/call.ts';
import type { ChatEvent, ChatReply, ChatRequest, ReplyForm } from '../../service/chat-event.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import { schemaInstructions } from '../../service/schema-instructions.ts';
import type { Usage } from '../../service/session.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import type { CliContext } from '../context.ts';
import { readFileText } from '../terminal/file-message.ts';
import { CheckingThread } from './checking-thread.ts';
import { type Fault, readExactJson } from './exact-reader.ts';
import { SchemaCheck } from './schema-check.ts';

type ChatService = Pick<ConversationService, 'chat'>;

export class ReplyRule {
  readonly #check: SchemaCheck;
  readonly #repairs: number;

  /** `repairs` is how often the model is asked again for a reply that matches. */
  constructor(check: SchemaCheck, repairs: number) {
    this.#check = check;
    this.#repairs = repairs;
  }

  /** Reads and tries the schema. Throws `USAGE` for a file that cannot be read, or whose schema cannot be checked completely. */
  static async ofFile(path: string, repairs: number, { inputWait }: CliContext): Promise<ReplyRule> {
    const text = await readFileText(path, defaultLimits.schemaBytes, inputWait);
    return new ReplyRule(await SchemaCheck.open(text, path, new CheckingThread(inputWait.signal)), repairs);
  }

  /** The schema as it is sent with a request. */
  get schema(): string {
    return this.#check.schema;
  }

  /**
   * The service with this rule. Only the last turn of a chat has the event `done`: its reply is only the JSON, on one line; its usage is that of
   * all turns; and its body has the parsed JSON as `value`. The idempotency keys of repairs are derived from that of the call. `onRepair` is
   * called for each reply that does not match before the model is asked again.
   */
  over(
    service: ChatService,
    onRepair: (failure: ParleyError) => Promise<void> = async () => {},
  ): ChatService {
    return { chat: (call, request, form) => this.#chat({ service, onRepair }, call, request, form) };
  }

  async *#chat(
    { service, onRepair }: { service: ChatService; onRepair: (failure: ParleyError) => Promise<void> },
    call: Call,
    original: ChatRequest,
    form: ReplyForm,
  ): AsyncGenerator<ChatEvent> {
    const { schema } = this;
    let request: ChatRequest = { ...original, schema };
    let usage: Usage | null = null;
    for (let turn = 0; ; turn += 1) {
      const done = yield* untilDone(service.chat(repairCall(call, turn), request, form));
      usage = sumOf(usage, done.data.usage);
      const judgement = await this.#check.judge(done.data.reply);
      if (judgement.kind === 'match') {
        const data = { ...done.data, reply: judgement.json, usage };
        yield { ...done, data, body: withValue(done.body, judgement.json) };
        return;
      }
      const failure = mismatch(done.data, judgement.faults);
      if (turn === this.#repairs) throw failure;
      await onRepair(failure);
      const { mode } = original;
      const message = repairMessage(schema, judgement.faults);
      request = { mode, message, session_id: done.data.session_id, schema };
    }
  }
}

type DoneEvent = Extract<ChatEvent, { event: 'done' }>;

/** Yields all events except `done`, which it returns. */
async function* untilDone(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent, DoneEvent> {
  for await (const event of events) {
    if (event.event === 'done') return event;
    yield event;
  }
  throw new ParleyError('INCOMPLETE_REPLY', 'The reply ended before it was complete.', {
    hint: 'Try again.',
  });
}

/** The call of a turn. Repeating a chat repeats its repairs with the same keys. */
function repairCall(call: Call, turn: number): Call {
  const { idempotencyKey: key } = call;
  if (turn === 0 || key === null) return call;
  const hash = createHash('sha256').update(`${turn} ${key}`).digest('base64url');
  return { ...call, idempotencyKey: `repair-${hash}` };
}

/** Contains the schema again, because a server may ignore the one in the request. */
function repairMessage(schema: string, faults: readonly Fault[]): string {
  const reasons = faults.map((fault) => `- ${whereOf(fault)}: ${shortened(fault.reason)}`).join('\n');
  return `Your last reply is not the JSON that was asked for:\n${reasons}\n\nCorrect it. ${schemaInstructions(schema)}`;
}

function mismatch({ session_id, finish_reason }: ChatReply, faults: readonly Fault[]): ParleyError {
  const [first = { place: '', reason: 'it does not match' }] = faults;
  const limit = finish_reason === 'length' ? ' The reply was cut off at its length limit.' : '';
  const hint = `The reply is kept in session ${session_id}: parley sessions messages ${quoteForShell(session_id)}`;
  return new ParleyError(
    'SCHEMA_MISMATCH',
    `The reply does not match the schema ${whereOf(first)}: ${shortened(first.reason)}.${limit}`,
    {
      hint,
      details: faults.map(({ place, reason }) => ({ field: place, problem: shortened(reason) })),
      session_id,
    },
  );
}

function whereOf({ place }: Fault): string {
  return place === '' ? 'as a whole' : `at ${shortened(place)}`;
}

/** Names in a reply may be very long. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
}

function sumOf(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other;
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
  };
}

function withValue(body: unknown, json: string): unknown {
  return { ...(body as object), value: readExactJson(json).value };
}
