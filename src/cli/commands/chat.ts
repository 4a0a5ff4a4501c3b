// `parley chat`: one turn. The reply goes to stdout and nothing else does.

import { type Command, Option } from 'commander';
import type { Call } from '../../service/call.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { type ErrorCode, ParleyError } from '../../service/errors.ts';
import type { NewSession } from '../../service/session.ts';
import { composeMessage, type MessageSources } from '../chat-message.ts';
import { type ChatFormat, chatOutput } from '../chat-output.ts';
import type { CliContext } from '../context.ts';
import { exitDone } from '../exit-codes.ts';
import { chooseMode, requireMode } from '../mode-choice.ts';
import { type RetriedChat, withRetryCommand } from '../retry-command.ts';
import type { Run } from '../run.ts';
import { type SessionFlags, sessionToContinue } from '../session-choice.ts';
import type { WhichBlock } from '../terminal/markdown/fenced-block.ts';
import { idsFromWords } from '../terminal/session-ids.ts';
import { wholeNumber } from '../whole-number.ts';
import { canConverse, runRepl } from './repl.ts';

export interface ChatInput extends MessageSources, SessionFlags {
  readonly mode: string | null;
  readonly title: string | null;
  readonly stream: boolean;
  readonly jsonStream: boolean;
  /** Tell the tokens that the turn took. */
  readonly usage: boolean;
  /** Show the model's notes to itself. */
  readonly reasoning: boolean;
  /** The key of a turn that failed, to repeat that one; null for a new turn. */
  readonly idempotencyKey: string | null;
  /** No Markdown styling. */
  readonly raw: boolean;
  /** Which fenced block of the reply is printed in its place; null for the whole reply. */
  readonly extractCode: WhichBlock | null;
}

interface ChatFlags {
  readonly mode?: string;
  readonly session?: string;
  readonly continue?: true;
  readonly title?: string;
  readonly file?: readonly string[];
  readonly stream: boolean;
  readonly jsonStream?: true;
  readonly stdin: boolean;
  readonly usage?: true;
  readonly reasoning?: true;
  readonly idempotencyKey?: string;
  readonly raw?: true;
  readonly extractCode?: WhichBlock;
  readonly batch?: true;
  readonly concurrency?: number;
  readonly inSession?: true;
  readonly resume?: string;
  readonly progress?: true;
}

export function registerChat(parent: Command, run: Run): void {
  parent
    .command('chat')
    .description('send a message and print the reply')
    .argument('[message...]', 'the message; - reads it from stdin; words and piped stdin go together')
    .option('-m, --mode <name>', 'the mode to chat in (see: parley models)')
    .option('-s, --session <id>', 'continue this session')
    .option('-c, --continue', 'continue the session last used in this terminal')
    .option('--title <title>', 'title of the new session')
    .option('-f, --file <path>', 'put this file (- for stdin) into the message; repeatable', collected)
    .option('--no-stream', 'print the reply when it is complete')
    .option('--json-stream', 'print each event as a line of JSON')
    .option('--usage', 'print on stderr how many tokens the turn took')
    .option('--reasoning', 'print on stderr what the model thinks before it replies')
    .option(
      '--idempotency-key <key>',
      'repeat the turn of this key, as a failed chat prints it; nothing is doubled',
    )
    .option('-n, --no-stdin', 'leave stdin alone (in loops that read it; or PARLEY_NO_STDIN=1)')
    .option('--raw', 'print the reply as it is, not as Markdown')
    .addOption(
      new Option(
        '--extract-code [which]',
        'print the first fenced code block of the reply alone, or with =last the last',
      ).choices(['first', 'last']),
    )
    .option('--batch', 'send each line of stdin, print a line of JSON for each (see Batches)')
    .option('--concurrency <n>', 'batch: how many at a time (default: 4)', wholeNumber(1, mostAtOnce))
    .option('--in-session', 'batch: all lines are turns of one session: a new one, or that of -s or -c')
    .option('--resume <file>', 'batch: go on where the run that wrote this file stopped, in the same file')
    .option('--progress', 'batch: tell every 10 s how far it is, also without a terminal')
    .addHelpText('after', batchHelp)
    .action((words: string[], flags: ChatFlags, command: Command) =>
      run(command, async (context) => {
        const input = inputOf(words, flags, context);
        if (flags.batch !== true) return runChat(withoutBatch(input, flags), context);
        const { runChatBatch } = await import('./chat-batch.ts');
        return runChatBatch({ ...input, ...batchOf(flags) }, context);
      }),
    );
}

const batchHelp = `
Batches:
  parley chat --batch < in.txt > out.ndjson
  parley chat --batch --resume out.ndjson < in.txt    goes on after a stop

  A line is a message, or {"message", "id"?, "mode"?, "session_id"?, "title"?}. Its result is
  {"id", "success", "data" or "error"}, in the order of the lines; a line without an id has its number.
  A line that fails stops no other: the exit status is 3 at the end.`;

const mostAtOnce = 1000;

function batchOf(flags: ChatFlags) {
  return {
    concurrency: flags.concurrency ?? 4,
    inSession: flags.inSession ?? false,
    resume: flags.resume ?? null,
    progress: flags.progress ?? false,
  };
}

function withoutBatch(input: ChatInput, { concurrency, inSession, resume, progress }: ChatFlags): ChatInput {
  const given = [
    concurrency !== undefined && '--concurrency',
    inSession && '--in-session',
    resume !== undefined && '--resume',
    progress && '--progress',
  ].find(Boolean);
  if (given === undefined) return input;
  throw new ParleyError('USAGE', `${given} is for --batch.`, { hint: 'See: parley chat --help' });
}

function collected(path: string, paths: readonly string[] = []): readonly string[] {
  return [...paths, path];
}

function inputOf(words: readonly string[], flags: ChatFlags, context: CliContext): ChatInput {
  return {
    words,
    files: flags.file ?? [],
    stdin: flags.stdin && context.host.env['PARLEY_NO_STDIN'] !== '1',
    mode: flags.mode ?? null,
    session: flags.session ?? null,
    continue: flags.continue ?? false,
    title: flags.title ?? null,
    stream: flags.stream,
    jsonStream: flags.jsonStream ?? false,
    usage: flags.usage ?? false,
    reasoning: flags.reasoning ?? false,
    idempotencyKey: flags.idempotencyKey ?? null,
    raw: flags.raw ?? false,
    extractCode: flags.extractCode ?? null,
  };
}

export async function runChat(input: ChatInput, context: CliContext): Promise<number> {
  checkTogether(input, context);
  if (isConversation(input, context)) {
    return runRepl(
      { session: input.session, continue: input.continue, mode: input.mode, raw: input.raw },
      context,
    );
  }
  const message = await composeMessage(input, context);
  const mode = await chooseMode(input.mode, context);
  const session_id = await sessionToContinue(input, context);
  const { backend } = await context.open();
  const given = await context.call();
  const idempotencyKey = input.idempotencyKey ?? given.requestId;
  const call = { ...given, idempotencyKey, showReasoning: input.reasoning };
  if (input.title !== null) await requireMode(mode, context);
  const titled = input.title === null ? null : await createTitled(input.title, call, backend.service);
  const { usage, raw } = input;
  const shown = { mode, modeGiven: input.mode, usage, raw };
  const output = chatOutput(formatOf(input, context), context, shown);
  let kept: string | null = null;
  let complete = false;
  try {
    const request = { mode, message, session_id: titled?.session_id ?? session_id };
    for await (const event of backend.service.chat(call, request, 'pieces')) {
      if (event.event === 'session') {
        kept = event.data.session_id;
        await remember(event.data.session_id, context);
      }
      await output.take(event);
      if (event.event === 'done') complete = true;
    }
    if (!complete) throw incomplete();
    return exitDone;
  } catch (error) {
    await output.fail(error);
    // Of a message that was refused nothing stays, not even the session that was made for it.
    if (titled !== null && kept === null && !mayBeKept(error)) {
      await backend.service.deleteSession(call, titled.session_id).catch(() => {
        // An empty session is left: the failure to be told is the first.
      });
    }
    if (kept === null) throw error;
    if (context.host.signal.aborted)
      await context.say(`Stopped. What had come of the reply is kept in session ${kept}.`);
    const { words, files, title, reasoning } = input;
    const hasMore = files.length > 0 || (input.stdin && context.stdinIsFed) || words.join(' ') === '-';
    const again: RetriedChat = {
      words,
      title,
      reasoning,
      usage,
      format: jsonFlag(input, context),
      mode,
      session: session_id,
      hasMore,
      key: idempotencyKey,
    };
    throw withRetryCommand(error, again, context);
  }
}

/** Repeated with its turn, it gives the same session again. */
async function createTitled(title: string, call: Call, service: ConversationService): Promise<NewSession> {
  const idempotencyKey = `${call.idempotencyKey}-session`;
  return (await service.createSession({ ...call, idempotencyKey }, { title })).data;
}

/** No word came on the message: the server may have it, and the session then holds it. */
function mayBeKept(error: unknown): boolean {
  const silent: readonly ErrorCode[] = ['NETWORK', 'TIMEOUT', 'INCOMPLETE_REPLY', 'BAD_RESPONSE'];
  return error instanceof ParleyError && silent.includes(error.code);
}

/** A reply is worth more than the note of where it stands: without the note, the chat goes on. */
async function remember(sessionId: string, context: CliContext): Promise<void> {
  try {
    await context.rememberSession(sessionId);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    await context.stderr.write(
      `parley: ${error.message} (${error.code})\nGo on with -s ${sessionId}; -c does not know this session.\n`,
    );
  }
}

function checkTogether(input: ChatInput, context: CliContext): void {
  const choices = [input.session !== null && '-s', input.continue && '-c', input.title !== null && '--title'];
  const [one, other] = choices.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  if (input.session !== null) idsFromWords([input.session]);
  if (input.jsonStream && context.options.json) {
    throw new ParleyError('USAGE', '--json and --json-stream cannot be used together.');
  }
  const json = jsonFlag(input, context);
  if (input.extractCode !== null && json !== null) {
    throw new ParleyError('USAGE', `--extract-code and ${json} cannot be used together.`, {
      hint: 'Choose the block, or the answer whole.',
    });
  }
}

/** The flag that asks for JSON; null where none does. */
function jsonFlag({ jsonStream }: ChatInput, { options }: CliContext): RetriedChat['format'] {
  if (options.json) return '--json';
  return jsonStream ? '--json-stream' : null;
}

/** Nothing to send, and somebody there to say it. */
function isConversation(input: ChatInput, context: CliContext): boolean {
  const isBare = input.words.length === 0 && input.files.length === 0 && input.title === null;
  return isBare && formatOf(input, context) === 'text' && !context.stdinIsFed && canConverse(context);
}

function formatOf(input: ChatInput, context: CliContext): ChatFormat {
  if (context.options.json) return 'json';
  if (input.jsonStream) return 'events';
  if (input.extractCode !== null) return `${input.extractCode} block`;
  return input.stream ? 'text' : 'whole';
}

function incomplete(): ParleyError {
  return new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.', { hint: 'Try again.' });
}
