// Writes a chat's events to the standard streams, in the requested format.
import type { WaitingSign } from '../service/call.ts';
import type { ChatEvent, ChatReply, ChatRequest } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import { failureBody } from '../service/result.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';
import { LiveReply } from './live-reply.ts';
import { targetOptions } from './target-options.ts';
import { toJson } from './terminal/json.ts';
import { fencedBlock, type WhichBlock } from './terminal/markdown/fenced-block.ts';
import type { UntrustedWriter } from './terminal/output.ts';
import type { MarkdownChoice } from './terminal/reply-writer.ts';
import { terminalText } from './terminal/terminal-text.ts';
import { tokensLine, turnNotes } from './turn-notes.ts';

/** `text` prints the reply as it arrives; `whole` and the code blocks print at the end. `json` is one body at the end; `events` is a line of JSON per event. */
export type ChatFormat = 'text' | 'whole' | `${WhichBlock} block` | 'json' | 'events';

export interface ChatOutput {
  /** Shows what the call is waiting for. Undefined for formats that show nothing. */
  readonly notice?: (sign: WaitingSign) => void;
  write(event: ChatEvent): Promise<void>;
  /** Reports that a reply does not match its schema and that the model is asked again. */
  reportRepair(failure: ParleyError): Promise<void>;
  /** Ends the output after a failure or a stop, so that an error can be written. */
  fail(error: unknown): Promise<void>;
}

export interface ChatOutputOptions {
  /** The request as it is known now: the first event adds the session. */
  readonly request: () => Pick<ChatRequest, 'mode' | 'session_id'>;
  /** True if the turn begins a session. A terminal then shows how to continue it. */
  readonly isNewSession: boolean;
  /** True to print the tokens of the turn. */
  readonly usage: boolean;
  readonly markdown: MarkdownChoice;
}

export function chatOutput(format: ChatFormat, context: CliContext, options: ChatOutputOptions): ChatOutput {
  const output = outputOf(format, options, context);
  return {
    ...output,
    async write(event) {
      await output.write(event);
      if (event.event === 'done') await writeTurnNotes(event.data, context, options);
    },
    async reportRepair(failure) {
      if (format === 'events') await writeEvent('mismatch', failureBody(failure, null), context);
      await context.say(`${failure.message} Asking again.`);
    },
  };
}

function outputOf(
  format: ChatFormat,
  options: ChatOutputOptions,
  context: CliContext,
): Omit<ChatOutput, 'reportRepair'> {
  switch (format) {
    case 'json':
      return {
        write: async (event) => {
          if (event.event === 'done') await context.stdout.write(`${toJson(event.body)}\n`);
        },
        fail: async () => {},
      };
    case 'events':
      return {
        write: (event) =>
          writeEvent(event.event, 'body' in event ? event.body : success(event.data), context),
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
  { markdown, isNewSession }: ChatOutputOptions,
  context: CliContext,
): Omit<ChatOutput, 'reportRepair'> {
  const streams = format === 'text';
  // A block of code is not Markdown.
  const live = new LiveReply(format.endsWith('block') ? 'never' : markdown, context);
  live.wait();
  let hasStarted = false;
  const notes = reasoningNotes(context);
  return {
    notice: live.notice,
    async write(event) {
      if (event.event === 'reasoning') {
        await live.stop();
        return notes.write(event.data.text);
      }
      await notes.end();
      if (event.event === 'delta' && streams) {
        hasStarted = true;
        await (await live.begin()).write(event.data.text);
      } else if (event.event === 'done') {
        await live.stop();
        const { writer } = await live.display;
        // A server that does not stream has sent no chunks.
        if (!hasStarted) {
          const text = await textToPrint(event.data, format, context);
          // Programs that run in parallel may share a pipe. Their lines stay whole if the newline is in the same write.
          await writer.write(context.stdout.isTerminal || text.endsWith('\n') ? text : `${text}\n`);
        }
        await writer.endLine();
        await writeEndNotes(event.data, isNewSession, context);
      }
    },
    async fail() {
      await live.stop();
      await notes.end();
      if (!hasStarted) return;
      const { writer } = await live.display;
      if (context.stdout.isTerminal) await writer.endLine();
      else await writer.end();
    },
  };
}

async function textToPrint(
  { reply, session_id }: ChatReply,
  format: TextFormat,
  { keepsNoText }: CliContext,
): Promise<string> {
  if (format === 'text' || format === 'whole') return reply;
  const block = await fencedBlock(reply, format === 'first block' ? 'first' : 'last');
  if (block !== null) return block;
  throw new ParleyError('NOT_FOUND', 'There is no fenced code block in the reply.', {
    hint: keepsNoText
      ? 'Ask again without --extract-code: the reply was not kept.'
      : `The whole reply is kept in session ${session_id}: parley sessions messages ${quoteForShell(session_id)}`,
    session_id,
  });
}

/** Writes the model's reasoning dimmed to stderr. It is never part of the reply. */
function reasoningNotes(context: CliContext) {
  // Created at the first note, because creating it takes time.
  let writer: UntrustedWriter | null = null;
  const paint = async (on: boolean) => {
    const { stderr } = context;
    if (stderr.colour > 0) await stderr.write(on ? terminalText`\x1b[2m` : terminalText`\x1b[22m`);
  };
  return {
    async write(text: string): Promise<void> {
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

/** Writes what a user should know about the turn besides its reply. */
async function writeTurnNotes(
  reply: ChatReply,
  context: CliContext,
  options: ChatOutputOptions,
): Promise<void> {
  for (const note of turnNotes(reply, options.request())) await context.say(note);
  if (options.usage) await context.stderr.write(`${tokensLine(reply.usage)}\n`);
}

async function writeEndNotes(reply: ChatReply, isNewSession: boolean, context: CliContext): Promise<void> {
  if (reply.finish_reason === 'length') await context.say('The reply was cut off at its length limit.');
  if (!context.stdout.isTerminal || context.options.quiet) return;
  if (context.keepsNoText) return context.sayDimly('No text of this turn was kept.');
  if (!isNewSession) return;
  const command = ['parley', 'chat', ...targetOptions(context.options), '-c'].map(quoteForShell).join(' ');
  await context.sayDimly(`session ${reply.session_id}, continue with: ${command} "…"`);
}
