// `parley chat`: one turn. Only the reply goes to stdout.
import { type Command, Option } from 'commander';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import type { SessionArchive } from '../../service/session-archive.ts';
import { chatOutput } from '../chat-output.ts';
import { type ChatInput, planChat } from '../chat-plan.ts';
import { prepareTurn, retryWithMode, runTurn, turnTemplateOf } from '../chat-turn.ts';
import type { CliContext } from '../context.ts';
import {
  checkEphemeralConflicts,
  ephemeralDescription,
  ephemeralFlag,
  withoutSession,
} from '../ephemeral-option.ts';
import { exitDone } from '../exit-codes.ts';
import { firstReplyNote } from '../first-reply-note.ts';
import { markdownOption } from '../markdown-option.ts';
import { withModeOfSession } from '../mode-choice.ts';
import { withRetryCommand } from '../retry-command.ts';
import type { Run } from '../run.ts';
import { openRule } from '../schema/open-rule.ts';
import { readInSession } from '../session-reference.ts';
import { addSettingOptions, type SettingFlags } from '../setting-options.ts';
import { addTemplateOptions, noValues, type TemplateValues } from '../template-values.ts';
import type { WhichBlock } from '../terminal/markdown/fenced-block.ts';
import type { MarkdownChoice } from '../terminal/reply-writer.ts';
import { wholeNumber } from '../whole-number.ts';
import { canConverse, runRepl } from './repl.ts';

interface ChatFlags extends SettingFlags {
  readonly mode?: string;
  readonly session?: string;
  readonly continue?: true;
  readonly title?: string;
  readonly user?: string;
  readonly file?: readonly string[];
  readonly template?: string;
  readonly regenerate?: true;
  readonly fork?: true;
  readonly ephemeral?: true;
  readonly set?: TemplateValues;
  readonly stream: boolean;
  readonly jsonStream?: true;
  readonly stdin: boolean;
  readonly usage?: true;
  readonly reasoning?: true;
  readonly idempotencyKey?: string;
  readonly raw?: true;
  readonly markdown: MarkdownChoice;
  readonly extractCode?: WhichBlock;
  readonly schema?: string;
  readonly repair?: number;
  readonly batch?: true;
  readonly concurrency?: number;
  readonly inSession?: true;
  readonly resume?: string;
}

export function registerChat(parent: Command, run: Run): void {
  const command = parent
    .command('chat')
    .description('send a message and print the reply')
    .argument('[message...]', 'the message; - reads it from stdin; words and piped stdin go together')
    .option('-m, --mode <name>', 'the mode to chat in (see: parley models)')
    .option('-s, --session <id>', 'continue this session: an id, its last 6 or more characters, or a title')
    .option('-c, --continue', 'continue the session last used in this terminal')
    .option('--title <title>', 'title of the new session')
    .option('--user <name>', 'the person whose session it is; one that exists must be of this person')
    .option('--fork', 'continue a copy of the session of -s or -c, and leave that session as it is')
    .option('--regenerate', 'another reply to the last message of -s or -c; the one before is kept beside it')
    .option(ephemeralFlag, ephemeralDescription)
    .option('-f, --file <path>', 'put this file (- for stdin) into the message; repeatable', collected);
  addSettingOptions(addTemplateOptions(command))
    .option('--no-stream', 'print the reply when it is complete')
    .option('--json-stream', 'print each event as a line of JSON')
    .option('--usage', 'print on stderr how many tokens the turn took')
    .option('--reasoning', 'print on stderr what the model thinks before it replies')
    .option(
      '--idempotency-key <key>',
      'repeat the turn of this key, as a failed chat prints it; nothing is doubled',
    )
    .option('-n, --no-stdin', 'leave stdin alone (in loops that read it; or PARLEY_NO_STDIN=1)')
    .addOption(markdownOption())
    .option('--raw', 'print the reply as it is: --markdown never')
    .addOption(
      new Option(
        '--extract-code [which]',
        'print the first fenced code block of the reply alone, or with =last the last',
      ).choices(['first', 'last']),
    )
    .option('--schema <file>', 'print JSON alone, checked by this JSON Schema (see: parley help formatting)')
    .option(
      '--repair <n>',
      'ask so often for a reply that matches the schema (default: 1)',
      wholeNumber(0, 10),
    )
    .option('--batch', 'send each line of stdin, print a line of JSON for each (see Batches)')
    .option('--concurrency <n>', 'batch: how many at a time (default: 4)', wholeNumber(1, mostAtOnce))
    .option('--in-session', 'batch: all lines are turns of one session: a new one, or that of -s or -c')
    .option('--resume <file>', 'batch: go on where the run that wrote this file stopped, in the same file')
    .addHelpText('after', batchHelp)
    .action((words: string[], flags: ChatFlags, command: Command) =>
      run(command, async (context) => {
        if (flags.repair !== undefined && flags.schema === undefined && flags.batch !== true)
          throw new ParleyError('USAGE', '--repair is for --schema.', { hint: 'See: parley chat --help' });
        const input = inputOf(words, flags, context);
        checkEphemeralConflicts(input.ephemeral, [
          ['--batch', flags.batch ?? false, 'Send the messages one by one.'],
        ]);
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

  A line is a message, or {"message", "id"?, "mode"?, "session_id"?, "title"?, "user"?, "system"?, "parameters"?, "schema"?}.
  Its result is {"id", "success", "data" or "error"}, in the order of the lines; a line without an id has its number, and one
  with a schema (its own, or that of --schema) has the JSON of the reply as "value".
  A line that fails stops no other: the exit status is 3 at the end.`;

const mostAtOnce = 1000;

function batchOf(flags: ChatFlags) {
  return {
    concurrency: flags.concurrency ?? 4,
    inSession: flags.inSession ?? false,
    resume: flags.resume ?? null,
  };
}

function withoutBatch(input: ChatInput, { concurrency, inSession, resume }: ChatFlags): ChatInput {
  const given = [
    concurrency !== undefined && '--concurrency',
    inSession && '--in-session',
    resume !== undefined && '--resume',
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
    user: flags.user ?? null,
    template: flags.template ?? null,
    values: flags.set ?? noValues,
    settings: flags,
    regenerate: flags.regenerate ?? false,
    fork: flags.fork ?? false,
    ephemeral: flags.ephemeral ?? false,
    stream: flags.stream,
    jsonStream: flags.jsonStream ?? false,
    usage: flags.usage ?? false,
    reasoning: flags.reasoning ?? false,
    idempotencyKey: flags.idempotencyKey ?? null,
    markdown: flags.raw ? 'never' : flags.markdown,
    extractCode: flags.extractCode ?? null,
    schema: flags.schema ?? null,
    repairs: flags.repair ?? 1,
  };
}

export async function runChat(given: ChatInput, context: CliContext): Promise<number> {
  const template = await turnTemplateOf(given, context);
  const input = { ...given, schema: given.schema ?? template.schema };
  const { stdinIsFed, options } = context;
  const canTalk = () => canConverse(context);
  const plan = planChat(input, { json: options.json, stdinIsFed, canConverse: canTalk });
  if (plan.kind === 'conversation') return runRepl(plan.repl, context);
  if (input.ephemeral) context.keepNoText();

  const { usage } = input;
  // JSON is not Markdown.
  const markdown = input.schema === null ? input.markdown : 'never';
  const rule = await openRule(input, context);
  const prepared = await prepareTurn(input, template, context);
  const { call } = prepared;
  let { request, previousMode, isFirstTurnHere } = prepared;
  const note = await firstReplyNote(request.mode, context);
  const output = chatOutput(plan.format, context, { request: () => request, usage, markdown });
  const { service, archive } = (await context.open()).backend;
  const turns = input.regenerate ? withRegeneration(service, archive) : service;
  const chatting = rule?.over(turns, output.repairing) ?? turns;
  const findMode = async () => {
    if (request.mode !== null) return false;
    const { mode, ...before } = await prepared.findMode();
    ({ previousMode, isFirstTurnHere } = before);
    request = { ...request, mode };
    return true;
  };
  const ask = (session_id: string | null) => {
    request = { ...request, session_id };
    const told = { ...call, ...(output.notice && { notice: output.notice }) };
    return retryWithMode(() => chatting.chat(told, request, 'chunks'), findMode);
  };
  const { session_id: id } = request;
  const events = id === null ? ask(null) : readInSession({ text: input.session ?? id, id }, context, ask);
  let mode = '';
  const outcome = await runTurn(events, output, (start) => {
    mode = request.mode ?? start.mode;
    request = { ...request, mode };
    return remember(start.session_id, mode, context);
  });
  const isKept = outcome.kind === 'done' || outcome.session !== null;
  if (isKept && previousMode !== null && previousMode !== mode)
    await context.say(`The session goes on in the mode ${mode}; before, it was in ${previousMode}.`);
  if (isKept && isFirstTurnHere)
    await context.say(`The session was said in another program. Here it goes on in the mode ${mode}.`);
  if (outcome.kind === 'done') {
    if (note !== null) await context.sayDimly(note);
    return exitDone;
  }

  const { error, session } = outcome;
  if (session === null) {
    const { mode, session_id: sessionId } = request;
    if (mode === null || mode !== previousMode || sessionId === null) throw error;
    throw withModeOfSession(error, { mode, sessionId }, '-m MODE');
  }
  // The process ends, so nothing is left that could be gone on with or asked again.
  if (input.ephemeral) throw withoutSession(error);
  if (context.signal.aborted)
    await context.say(`Stopped. What had come of the reply is kept in session ${session}.`);
  const { session_id } = request;
  const { jsonFlag, hasMore } = plan;
  const repeated = {
    ...input,
    format: jsonFlag,
    mode,
    session: session_id,
    hasMore,
    key: call.idempotencyKey,
  };
  throw withRetryCommand(error, repeated, context);
}

/** The service, for which a turn without a message is another reply to the last one. A repair that follows has a message. */
function withRegeneration(
  service: ConversationService,
  archive: SessionArchive,
): Pick<ConversationService, 'chat'> {
  return {
    chat(call, request, form) {
      const { mode, message, session_id, schema } = request;
      if (message !== '' || session_id === null) return service.chat(call, request, form);
      const asked = { ...(mode !== null && { mode }), ...(schema !== undefined && { schema }) };
      return archive.regenerate(call, session_id, asked, form);
    },
  };
}

/** Notes the session for the next `--continue`. A failure does not stop the chat: the reply matters more than the note. */
async function remember(sessionId: string, mode: string, context: CliContext): Promise<void> {
  try {
    await context.rememberSession(sessionId, mode);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    await context.stderr.write(
      `parley: ${error.message} (${error.code})\nGo on with -s ${sessionId}; -c does not know this session.\n`,
    );
  }
}
