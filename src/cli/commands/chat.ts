// `parley chat`: one turn. Only the reply is written to stdout.
import { type Command, Option } from 'commander';
import { offers } from '../../service/backend.ts';
import type { ConversationService } from '../../service/conversation-service.ts';
import { ParleyError } from '../../service/errors.ts';
import type { SessionArchive } from '../../service/session-archive.ts';
import { chatOutput } from '../chat-output.ts';
import { type ChatInput, planChat } from '../chat-plan.ts';
import { prepareTurn, retryWithMode, runTurn, turnTemplateOf } from '../chat-turn.ts';
import type { CliContext } from '../context.ts';
import { checkEphemeralConflicts, ephemeralDescription, ephemeralFlag } from '../ephemeral-option.ts';
import { exitDone } from '../exit-codes.ts';
import { firstReplyNote } from '../first-reply-note.ts';
import { helpNote } from '../help-layout.ts';
import { markdownOption } from '../markdown-option.ts';
import { repeatable } from '../option-values.ts';
import { rememberOrReport } from '../remember-session.ts';
import { failureOfTurn } from '../retry-command.ts';
import type { Run } from '../run.ts';
import { openRule } from '../schema/open-rule.ts';
import { oneSession } from '../session-argument.ts';
import type { ModeOfTurn } from '../session-mode.ts';
import { readInSession } from '../session-reference.ts';
import { addSettingOptions } from '../setting-options.ts';
import { addTemplateOptions } from '../template-values.ts';
import { wholeNumber } from '../whole-number.ts';
import type { ChatBatchInput } from './chat-batch.ts';
import { canConverse, runRepl } from './repl.ts';

interface ChatFlags extends Omit<ChatBatchInput, 'words' | 'concurrency'> {
  readonly concurrency?: number;
  readonly raw?: true;
  readonly batch?: true;
}

export function registerChat(parent: Command, run: Run): void {
  const command = parent
    .command('chat')
    .description('send a message and print the reply')
    .argument('[message...]', 'the message; - reads it from stdin; piped stdin is added after the words')
    .option(
      '-m, --mode <name>',
      'the mode to chat in (default: that of the session, else the default; see: parley models)',
    )
    .option('-s, --session <id>', `continue this session: ${oneSession}`)
    .option('-c, --continue', 'continue the session last used in this terminal')
    .option('--title <title>', 'title of the new session')
    .option(
      '--user <name>',
      'the user that the session belongs to; an existing session must belong to this user',
    )
    .option('--fork', 'continue a copy of the session of -s or -c; the session itself stays unchanged')
    .option('--regenerate', 'get another reply to the last message of -s or -c; the previous reply is kept')
    .option(ephemeralFlag, ephemeralDescription)
    .option('-f, --file <path>', 'add this file (- for stdin) to the message; repeatable', repeatable);
  addSettingOptions(addTemplateOptions(command))
    .option('--no-stream', 'print the reply when it is complete')
    .option('--json-stream', 'print each event as a line of JSON (NDJSON)')
    .option('--usage', 'print the token counts of the turn on stderr')
    .option('--reasoning', 'print the model’s reasoning on stderr')
    .option(
      '--idempotency-key <key>',
      'repeat the turn with this key, which a failed chat prints; nothing is stored twice',
    )
    .option('-n, --no-stdin', 'do not read stdin, as in a loop that reads it (or PARLEY_NO_STDIN=1)')
    .addOption(markdownOption())
    .option('--raw', 'print the reply without rendering: --markdown never')
    .addOption(
      new Option(
        '--extract-code [which]',
        'print only the first fenced code block of the reply, or with =last the last one',
      ).choices(['first', 'last']),
    )
    .option('--schema <file>', 'print only JSON that matches this JSON Schema (see: parley help formatting)')
    .option(
      '--repair <n>',
      'how often to ask again for a reply that matches the schema (default: 1)',
      wholeNumber(0, 10),
    )
    .option('--batch', 'send each line of stdin, and print a line of JSON for each (see Batches)')
    .option('--concurrency <n>', 'batch: requests at a time (default: 4)', wholeNumber(1, maxConcurrency))
    .option('--in-session', 'batch: make all lines turns of one session: a new one, or that of -s or -c')
    .option('--resume <file>', 'batch: resume the run that wrote this file, and append to the file')
    .addHelpText('after', helpNote(batchHelp))
    .action(
      run(async (words: string[], flags: ChatFlags, context: CliContext) => {
        if (flags.repair !== undefined && flags.schema === undefined && flags.batch !== true)
          throw new ParleyError('USAGE', '--repair requires --schema.', { hint: 'See: parley chat --help' });
        const input = inputOf(words, flags, context);
        checkEphemeralConflicts(input.ephemeral, [['--batch', flags.batch, 'Send the messages one by one.']]);
        if (flags.batch !== true) {
          requireNoBatchFlags(flags);
          return runChat(input, context);
        }
        const { runChatBatch } = await import('./chat-batch.ts');
        return runChatBatch({ concurrency: 4, ...input }, context);
      }),
    );
}

const batchHelp = `
Batches:
  parley chat --batch < in.txt > out.ndjson
  parley chat --batch --resume out.ndjson < in.txt    resumes a run that was stopped

  A line is a message, or {"message", "id"?, "mode"?, "session_id"?, "title"?, "user"?, "system"?, "parameters"?, "schema"?}.
  Its result is {"id", "success", "data" or "error"}, in the order of the lines. The default id is the line number. With a schema (of the line, or of --schema), the JSON of the reply is in "value". A line that fails does not stop the others; the exit status is then 3.`;

const maxConcurrency = 1000;

function requireNoBatchFlags({ concurrency, inSession, resume }: ChatFlags): void {
  const flag = [
    concurrency !== undefined && '--concurrency',
    inSession && '--in-session',
    resume !== undefined && '--resume',
  ].find(Boolean);
  if (flag === undefined) return;
  throw new ParleyError('USAGE', `${flag} requires --batch.`, { hint: 'See: parley chat --help' });
}

function inputOf(words: readonly string[], flags: ChatFlags, { host }: CliContext) {
  const stdin = flags.stdin && host.env['PARLEY_NO_STDIN'] !== '1';
  return { ...flags, words, stdin, markdown: flags.raw ? 'never' : flags.markdown };
}

export async function runChat(chat: ChatInput, context: CliContext): Promise<number> {
  const template = await turnTemplateOf(chat, context);
  const schema = chat.schema ?? template.schema;
  const input: ChatInput = { ...chat, ...(schema !== null && { schema }) };
  const plan = planChat(input, {
    json: context.options.json,
    stdinIsFed: context.stdinIsFed,
    canConverse: () => canConverse(context),
  });
  if (plan.kind === 'conversation') return runRepl(input, context);
  if (input.ephemeral) context.keepNoText();

  const { usage = false } = input;
  // JSON is not Markdown.
  const markdown = input.schema === undefined ? input.markdown : 'never';
  const rule = await openRule(input, context);
  const prepared = await prepareTurn(input, template, context);
  const { call } = prepared;
  let { request, previousMode, isFirstTurnHere } = prepared;
  const note = await firstReplyNote(request.mode, context);
  const output = chatOutput(plan.format, context, {
    request: () => request,
    isNewSession: request.session_id === null || input.fork === true,
    usage,
    markdown,
  });
  const { backend } = await context.open();
  const { service, archive } = backend;
  const turns = input.regenerate ? withRegeneration(service, archive) : service;
  const checkedTurns = rule?.over(turns, output.reportRepair) ?? turns;
  const findMode = async () => {
    if (request.mode !== null) return false;
    const { mode, ...previous } = await prepared.findMode();
    ({ previousMode, isFirstTurnHere } = previous);
    request = { ...request, mode };
    return true;
  };
  const send = (session_id: string | null) => {
    request = { ...request, session_id };
    const callWithNotice = { ...call, ...(output.notice && { notice: output.notice }) };
    return retryWithMode(() => checkedTurns.chat(callWithNotice, request, 'chunks'), findMode);
  };
  const { session_id: id } = request;
  const events = id === null ? send(null) : readInSession({ text: input.session ?? id, id }, context, send);
  let mode = '';
  const outcome = await runTurn(events, output, (start) => {
    mode = request.mode ?? start.mode;
    request = { ...request, mode };
    return rememberOrReport(start.session_id, mode, context);
  });
  if (outcome.kind === 'done' || outcome.session !== null)
    await sayModeChange({ mode, previousMode, isFirstTurnHere }, context);
  if (outcome.kind === 'failed') {
    const honoursKeys = offers(backend, 'idempotency');
    const turn = { request, previousMode, mode, key: call.idempotencyKey, honoursKeys, ...plan };
    throw await failureOfTurn(outcome, turn, input, context);
  }
  if (note !== null) await context.sayDimly(note);
  return exitDone;
}

/** Says that a stored turn has changed the mode of its session, or has continued a session of another program. */
async function sayModeChange(
  { mode, previousMode, isFirstTurnHere }: ModeOfTurn,
  context: CliContext,
): Promise<void> {
  if (previousMode !== null && previousMode !== mode)
    await context.say(`The session continues in mode ${mode}; it was in ${previousMode} before.`);
  if (isFirstTurnHere)
    await context.say(`This session was imported from another program. It continues in mode ${mode}.`);
}

/** The service, with a turn without a message as a regeneration of the last reply. A repair of that reply has a message. */
function withRegeneration(
  service: ConversationService,
  archive: SessionArchive,
): Pick<ConversationService, 'chat'> {
  return {
    chat(call, request, form) {
      const { mode, message, session_id, schema } = request;
      if (message !== '' || session_id === null) return service.chat(call, request, form);
      const options = { ...(mode !== null && { mode }), ...(schema !== undefined && { schema }) };
      return archive.regenerate(call, session_id, options, form);
    },
  };
}
