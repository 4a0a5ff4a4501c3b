// `parley chat --batch`: reads a request from each line of stdin, and writes the results in the same order to stdout or to the resumed file.
import { setMaxListeners } from 'node:events';
import { type Backend, offers } from '../../service/backend.ts';
import { hasCode, ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import { type BatchDestination, openDestination } from '../batch/batch-destination.ts';
import { batchItems } from '../batch/batch-items.ts';
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import { type BatchLine, readItem } from '../batch/batch-request.ts';
import { BatchSessions, type LineDefaults, type SharedSession } from '../batch/batch-sessions.ts';
import { type BatchOutcome, BatchTurns, type BatchTurnsOptions, isRefused } from '../batch/batch-turns.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { Pacer } from '../batch/pacer.ts';
import type { ChatInput } from '../chat-plan.ts';
import { turnTemplateOf } from '../chat-turn.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { reportInWords } from '../error-report.ts';
import { exitDone, exitSomeFailed } from '../exit-codes.ts';
import { chooseMode, refuseUnknownMode } from '../mode-choice.ts';
import { defaultRepairs, openLineSchemas, openRule } from '../schema/open-rule.ts';
import type { ReplyRule } from '../schema/reply-rule.ts';
import { sessionToContinue } from '../session-choice.ts';
import { sessionMode } from '../session-mode.ts';
import { requireReference } from '../session-reference.ts';
import { readSettings } from '../setting-options.ts';

export interface ChatBatchInput extends ChatInput {
  /** Makes all lines turns of one session: the named or continued one, otherwise a new one (with the given title, if any). */
  readonly inSession?: true;
  readonly concurrency: number;
  /** The output file of an earlier run that this run completes. */
  readonly resume?: string;
}

/** The lines, and their characters, that may be read ahead of the oldest line without a result. */
const windowItems = (concurrency: number) => Math.max(64, 16 * concurrency);
const windowWeight = 16 * 1024 * 1024;

export async function runChatBatch(input: ChatBatchInput, context: CliContext): Promise<number> {
  checkConflicts(input, context);
  const template = await turnTemplateOf(input, context);
  const settings = await readSettings(input, template.settings, context.signal);
  // Fails here if a variable has no value, instead of once per line.
  template.buildMessage(' ');
  const schema = input.schema ?? template.schema;
  const rule = await openRule({ ...input, ...(schema !== null && { schema }) }, context);
  const session = await sessionToContinue(input, context);
  const named = input.mode ?? template.mode;
  const mode = session === null ? named : (await sessionMode(named, session, settings, context)).mode;
  const title = input.title ?? template.title;
  const defaults: LineDefaults = {
    mode,
    title,
    user: input.user ?? null,
    settings,
    buildMessage: template.buildMessage,
  };
  const destination = await openDestination(input.resume ?? null, context);
  const fatal = new AbortController();
  const signal = AbortSignal.any([context.signal, fatal.signal]);
  // Each running request adds a listener to the signal.
  setMaxListeners(0, signal);
  const giveUp = (error: unknown) => fatal.abort(error);
  const progress = progressOn(context, {
    end: context.host.stdin.size(),
    unit: 'bytes',
    outcomes: ['answered', 'failed', 'stopped', 'answered before'],
    resultsApart: input.resume !== undefined,
  });
  try {
    const shared = input.inSession ? { session_id: session?.sessionId ?? destination.session_id } : null;
    await answerAll({ input, context, destination, shared, defaults, rule, progress, signal, giveUp });
    await destination.sync();
    progress.stop();
    await context.say(progress.sentence('request'));
    return progress.count('failed') > 0 ? exitSomeFailed : exitDone;
  } catch (error) {
    progress.stop();
    await context.say(`Stopped: ${progress.sentence('request')} ${resumeHint(input)}`);
    // The failure is written to stderr as text, even with --json, because stdout contains only results.
    if (error instanceof ParleyError) return reportInWords(error, context);
    throw error;
  } finally {
    progress.stop();
    await destination.close();
  }
}

interface BatchRun {
  readonly input: ChatBatchInput;
  readonly context: CliContext;
  readonly destination: BatchDestination;
  readonly shared: SharedSession | null;
  readonly defaults: LineDefaults;
  readonly rule: ReplyRule | null;
  readonly progress: BatchProgress;
  readonly signal: AbortSignal;
  /** Stops all lines, because of a failure that would affect each of them. */
  readonly giveUp: (error: unknown) => void;
}

async function answerAll(batch: BatchRun): Promise<void> {
  const { input, context, destination, progress, signal, giveUp } = batch;
  const { backend, apiKey } = await context.open();
  const pacer = pacerOf(batch, backend);
  const sessions = sessionsOf(batch, backend);
  const turns = turnsOf(batch, { service: backend.service, apiKey, sessions, pacer });
  const items = batchItems({
    reading: { ...context.reading('lines', 'each is a request'), signal },
    read: (line) => readItem(line, { ...defaultLimits, inSession: input.inSession ?? false }),
    messageBytes: defaultLimits.messageBytes,
    answered: destination.answered,
    onSkip: () => progress.pass('answered before'),
  });
  await runInOrder<BatchLine, BatchOutcome>(items, {
    concurrency: input.inSession ? 1 : input.concurrency,
    window: { items: windowItems(input.concurrency), weight: windowWeight },
    signal,
    lane: ({ request }) => {
      if (input.inSession) return 'all';
      return request instanceof ParleyError ? null : request.session_id;
    },
    weight: ({ size }) => size,
    weightOf: ({ text }) => text.length,
    run: (item) => turns.run(item),
    write: async (results) => {
      for (const { outcome, item } of results) {
        progress.finish(outcome, item.end - item.size, item.end);
      }
      try {
        await destination.write(results.map(({ text }) => text).join(''));
      } catch (error) {
        giveUp(error);
        throw error;
      }
    },
  });
  signal.throwIfAborted();
  if (sessions.changed > 0)
    await context.say(`The settings of ${counted(sessions.changed, 'session')} were changed.`);
}

function pacerOf({ input, context, progress, signal, giveUp }: BatchRun, backend: Backend): Pacer {
  const pacer = new Pacer({
    maxConcurrency: input.concurrency,
    maxUnanswered: Math.max(20, 5 * input.concurrency),
    maxTries: 9,
    isRefused: (error) => isRefused(error, offers(backend, 'idempotency')),
    giveUp,
    say: (line) => {
      progress.clear();
      void context.say(line);
    },
    signal,
    random: context.host.random,
  });
  progress.waitsFor(
    () => pacer.pauseMs,
    () => pacer.refusalOf(context.target.url),
  );
  return pacer;
}

function sessionsOf({ context, defaults, shared, giveUp }: BatchRun, backend: Backend): BatchSessions {
  let defaultMode: Promise<string> | null = null;
  const knownModes = new Set<string>();
  return new BatchSessions({
    backend,
    defaults,
    shared,
    defaultMode: () => {
      defaultMode ??= chooseMode(defaults.mode, context).catch((error: unknown) => {
        // Every other line without a mode would fail, too.
        if (hasCode(error, 'USAGE')) giveUp(error);
        throw error;
      });
      return defaultMode;
    },
    refuseUnknownMode: async (mode) => {
      if (knownModes.has(mode)) return;
      await refuseUnknownMode(mode, context);
      knownModes.add(mode);
    },
  });
}

function turnsOf(
  { input, context, destination, shared, defaults, rule, signal, giveUp }: BatchRun,
  {
    service,
    apiKey,
    sessions,
    pacer,
  }: Pick<BatchTurnsOptions, 'service' | 'sessions' | 'pacer'> & { apiKey: string },
): BatchTurns {
  let schemas: ReturnType<typeof openLineSchemas> | null = null;
  return new BatchTurns({
    service,
    rule,
    ruleOf: async (schema, line) => {
      schemas ??= openLineSchemas(input.repair ?? defaultRepairs, signal);
      return (await schemas).ruleOf(schema, line);
    },
    call: { apiKey, signal, pacesItself: true, showReasoning: false },
    newRequestId: context.host.newRequestId,
    batch: destination.batch,
    sessions,
    pacer,
    shared,
    mode: defaults.mode,
    giveUp,
  });
}

function checkConflicts(input: ChatBatchInput, { host, options }: CliContext): void {
  const { words, file, session, title, inSession } = input;
  const isStdin = words.length === 0 || (words.length === 1 && words[0] === '-');
  const excluded = [
    !isStdin && 'Words',
    file !== undefined && '-f',
    !input.stdin && '-n (or PARLEY_NO_STDIN)',
    input.jsonStream && '--json-stream',
    input.extractCode !== undefined && '--extract-code',
    input.regenerate && '--regenerate',
    input.fork && '--fork',
  ].find(Boolean);
  if (excluded) {
    throw new ParleyError('USAGE', `${excluded} and --batch cannot be used together.`, {
      hint: 'A batch is read from stdin, one request per line: parley chat --batch < in.txt',
    });
  }
  const chosen = [session !== undefined && '-s', input.continue && '-c', title !== undefined && '--title'];
  const [one, other] = chosen.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  if (one && !inSession) {
    throw new ParleyError('USAGE', `${one} with --batch requires --in-session.`, {
      hint: 'With it, all lines are turns of that session; without it, each line may name its own session_id or title.',
    });
  }
  if (session !== undefined) requireReference(session);
  if (input.resume === '-') {
    throw new ParleyError('USAGE', '--resume needs the file that a run wrote: - is none.', {
      hint: 'Without --resume, the results are written to stdout.',
    });
  }
  if (input.resume !== undefined && options.jq !== null) {
    throw new ParleyError('USAGE', '--resume and --jq cannot be used together.', {
      hint: 'The file must contain the unfiltered results. Filter it when it is complete.',
    });
  }
  if (host.stdin.isTerminal()) {
    throw new ParleyError('USAGE', '--batch reads standard input, but it is a terminal.', {
      hint: 'Redirect a file or a pipe: parley chat --batch < in.txt',
    });
  }
}

function resumeHint({ resume }: ChatBatchInput): string {
  const file = resume === undefined ? 'OUTPUT' : quoteForShell(resume);
  const where = resume === undefined ? ' (OUTPUT: the file with the results)' : '';
  return `To resume, use the same input and the same other options: parley chat --batch --resume ${file} < INPUT${where}`;
}
