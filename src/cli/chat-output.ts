// A chat's events on the standard streams, in the form that was asked for.
import type { WaitingSign } from '../service/call.ts';
import type { ChatEvent, ChatReply, ChatRequest } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { LiveReply } from './live-reply.ts';
import { placeOptions } from './same-place.ts';
import { toJson } from './terminal/json.ts';
import { fencedBlock, type WhichBlock } from './terminal/markdown/fenced-block.ts';
import type { UntrustedWriter } from './terminal/output.ts';
import type { MarkdownChoice } from './terminal/reply-writer.ts';
import { terminalText } from './terminal/terminal-text.ts';
import { tokensLine, turnNotes } from './turn-notes.ts';

/** `text`: as it arrives. `whole`, or a block of code: at the end. `json`: one body at the end. `events`: a line of JSON per event. */
export type ChatFormat = 'text' | 'whole' | `${WhichBlock} block` | 'json' | 'events';

export interface ChatOutput {
  /** Takes what the call waits for, where it is shown. */
  readonly notice?: (sign: WaitingSign) => void;
  take(event: ChatEvent): Promise<void>;
  /** Tells that a reply does not match its schema, and is asked for again. */
  again(failure: ParleyError): Promise<void>;
  /** Ends the output after a failure or a stop, so that an error can be written. */
  fail(error: unknown): Promise<void>;
}

export interface ChatOutputOptions {
  /** What was asked for. The session is known once the first event has come. */
  readonly request: () => Pick<ChatRequest, 'mode' | 'session_id'>;
  /** True: the tokens of the turn are written. */
  readonly usage: boolean;
  readonly markdown: MarkdownChoice;
}

export function chatOutput(format: ChatFormat, context: CliContext, options: ChatOutputOptions): ChatOutput {
  const output = outputOf(format, options, context);
  return {
    ...output,
    async take(event) {
      await output.take(event);
      if (event.event === 'done') await tellTurn(event.data, context, options);
    },
    async again(failure) {
      if (format === 'events') await writeEvent('mismatch', failureBody(failure, null), context);
      await context.say(`${failure.message} It is asked for again.`);
    },
  };
}

function outputOf(
  format: ChatFormat,
  options: ChatOutputOptions,
  context: CliContext,
): Omit<ChatOutput, 'again'> {
  switch (format) {
    case 'json':
      return {
        take: async (event) => {
          if (event.event === 'done') await context.stdout.write(`${toJson(event.body)}\n`);
        },
        fail: async () => {},
      };
    case 'events':
      return {
        take: (event) => writeEvent(event.event, 'body' in event ? event.body : success(event.data), context),
        fail: async (error) => {
          if (!(error instanceof ParleyError)) return;
          await writeEvent('error', failureBody(error, context.requestId), context);
        },
      };
    default:
      return textOutput(format, options, context);
  }
}

const success = (data: unknown) => ({ success: true, data });

function writeEvent(event: string, body: unknown, { stdout }: CliContext): Promise<void> {
  return stdout.write(`${toJson({ event, ...(body as object) })}\n`);
}

type TextFormat = Exclude<ChatFormat, 'json' | 'events'>;

function textOutput(
  format: TextFormat,
  { markdown }: ChatOutputOptions,
  context: CliContext,
): Omit<ChatOutput, 'again'> {
  const streams = format === 'text';
  // A block of code is not Markdown.
  const live = new LiveReply(format.endsWith('block') ? 'never' : markdown, context);
  live.wait();
  let begun = false;
  const notes = reasoningNotes(context);
  return {
    notice: live.notice,
    async take(event) {
      if (event.event === 'reasoning') {
        await live.stop();
        await notes.take(event.data.text);
        return;
      }
      await notes.end();
      if (event.event === 'delta' && streams) {
        begun = true;
        await (await live.begin()).write(event.data.text);
      } else if (event.event === 'done') {
        await live.stop();
        const { writer } = await live.place;
        // A server that does not stream has sent no chunks.
        if (!begun) await writer.write(await shownOf(event.data, format, context));
        await writer.endLine();
        await tellEnd(event.data, context);
      }
    },
    async fail() {
      await live.stop();
      await notes.end();
      if (!begun) return;
      const { writer } = await live.place;
      if (context.stdout.isTerminal) await writer.endLine();
      else await writer.end();
    },
  };
}

async function shownOf(
  { reply, session_id }: ChatReply,
  format: TextFormat,
  { keepsNoText }: CliContext,
): Promise<string> {
  if (format === 'text' || format === 'whole') return reply;
  const block = await fencedBlock(reply, format === 'first block' ? 'first' : 'last');
  if (block !== null) return block;
  throw new ParleyError('NOT_FOUND', 'There is no fenced code block in the reply.', {
    hint: keepsNoText
      ? 'Ask again without the choice of a block: the reply was not kept.'
      : `The whole reply is kept in session ${session_id}: parley sessions messages ${quoteForShell(session_id)}`,
    session_id,
  });
}

/** Writes the model's notes dimmed to stderr. They are never part of the reply. */
function reasoningNotes(context: CliContext) {
  // The stream is made only if there are notes, because making it takes time.
  let writer: UntrustedWriter | null = null;
  const paint = async (on: boolean) => {
    const { stderr } = context;
    if (stderr.colour > 0) await stderr.write(on ? terminalText`\x1b[2m` : terminalText`\x1b[22m`);
  };
  return {
    async take(text: string): Promise<void> {
      if (context.options.quiet) return;
      if (writer === null) await paint(true);
      writer ??= context.stderr.untrusted();
      await writer.write(text);
    },
    async end(): Promise<void> {
      if (writer === null) return;
      await writer.endLine();
      writer = null;
      await paint(false);
    },
  };
}

/** Writes the facts of a turn beside its reply. */
async function tellTurn(reply: ChatReply, context: CliContext, options: ChatOutputOptions): Promise<void> {
  for (const note of turnNotes(reply, options.request())) await context.say(note);
  if (options.usage) await context.stderr.write(`${tokensLine(reply.usage)}\n`);
}

async function tellEnd(reply: ChatReply, context: CliContext): Promise<void> {
  if (reply.finish_reason === 'length')
    await context.say('The reply ends here because it reached its limit.');
  if (!context.stdout.isTerminal || context.options.quiet) return;
  if (context.keepsNoText) return context.sayDimly('No text of this turn is kept.');
  const command = ['parley', 'chat', ...placeOptions(context.options), '-c'].map(quoteForShell).join(' ');
  await context.sayDimly(`session ${reply.session_id}, go on with: ${command} "…"`);
}
