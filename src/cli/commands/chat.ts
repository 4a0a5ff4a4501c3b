// `parley chat`: one turn. The reply goes to stdout and nothing else does.
import type { Command } from 'commander';
import { type ErrorCode, ParleyError } from '../../service/errors.ts';
import { composeMessage, type MessageSources } from '../chat-message.ts';
import { type ChatFormat, chatOutput } from '../chat-output.ts';
import type { CliContext } from '../context.ts';
import { exitDone } from '../exit-codes.ts';
import { chooseMode, requireMode } from '../mode-choice.ts';
import type { Run } from '../run.ts';
import { sessionToContinue } from '../session-choice.ts';
import { idsFromWords } from '../terminal/session-ids.ts';
import { canConverse, runRepl } from './repl.ts';

export interface ChatInput extends MessageSources {
  readonly mode: string | null;
  readonly session: string | null;
  readonly continue: boolean;
  readonly title: string | null;
  readonly stream: boolean;
  readonly jsonStream: boolean;
  /** No Markdown styling. */
  readonly raw: boolean;
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
  readonly raw?: true;
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
    .option('-f, --file <path>', 'put this file into the message; repeatable', collected)
    .option('--no-stream', 'print the reply when it is complete')
    .option('--json-stream', 'print each event as a line of JSON')
    .option('-n, --no-stdin', 'leave stdin alone (in loops that read it; or PARLEY_NO_STDIN=1)')
    .option('--raw', 'print the reply as it is, not as Markdown')
    .action((words: string[], flags: ChatFlags, command: Command) =>
      run(command, (context) => runChat(inputOf(words, flags, context), context)),
    );
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
    raw: flags.raw ?? false,
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
  const { home } = await context.open();
  const call = await context.call();
  if (input.title !== null) await requireMode(mode, context);
  const titled =
    input.title === null ? null : (await home.service.createSession(call, { title: input.title })).data;
  const output = chatOutput(formatOf(input, context), input.raw, context);
  let kept: string | null = null;
  let complete = false;
  try {
    const request = { mode, message, session_id: titled?.session_id ?? session_id };
    for await (const event of home.service.chat(call, request)) {
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
      await home.service.deleteSession(call, titled.session_id).catch(() => {
        // An empty session is left: the failure to be told is the first.
      });
    }
    if (kept !== null && context.host.signal.aborted)
      await context.say(`Stopped. What had come of the reply is kept in session ${kept}.`);
    throw error;
  }
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
    await context.stderr.writeUntrusted(
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
}

/** Nothing to send, and somebody there to say it. */
function isConversation(input: ChatInput, context: CliContext): boolean {
  const isBare = input.words.length === 0 && input.files.length === 0 && input.title === null;
  return isBare && formatOf(input, context) === 'text' && !context.stdinIsFed && canConverse(context);
}

function formatOf(input: ChatInput, context: CliContext): ChatFormat {
  if (context.options.json) return 'json';
  if (input.jsonStream) return 'events';
  return input.stream ? 'text' : 'whole';
}

function incomplete(): ParleyError {
  return new ParleyError('INCOMPLETE_REPLY', 'The reply broke off before its end.', { hint: 'Try again.' });
}
