// `parley chat --batch`: a request per line of stdin, a result per line of stdout (or of the file that is resumed), in the same order.
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import { quoteForShell } from '../../system/shell-quote.ts';
import { BatchAnswers, type BatchOutcome, type SharedSession } from '../batch/batch-answers.ts';
import { type BatchDestination, openDestination } from '../batch/batch-destination.ts';
import { batchItems } from '../batch/batch-items.ts';
import { BatchProgress } from '../batch/batch-progress.ts';
import { type BatchLine, readItem } from '../batch/batch-request.ts';
import { runInOrder } from '../batch/ordered-run.ts';
import { Pace } from '../batch/pace.ts';
import type { MessageSources } from '../chat-message.ts';
import type { CliContext } from '../context.ts';
import { tellFailure } from '../error-report.ts';
import { exitDone, exitSomeFailed } from '../exit-codes.ts';
import { chooseMode } from '../mode-choice.ts';
import { type SessionFlags, sessionToContinue } from '../session-choice.ts';
import type { WhichBlock } from '../terminal/markdown/fenced-block.ts';
import { idsFromWords } from '../terminal/session-ids.ts';
import { startTimer } from '../terminal/timer.ts';

export interface ChatBatchInput extends MessageSources, SessionFlags {
  readonly mode: string | null;
  readonly title: string | null;
  readonly jsonStream: boolean;
  readonly extractCode: WhichBlock | null;
  /** All lines are turns of one session: of the one named or continued, else of one that is made (with the title, if there is one). */
  readonly inSession: boolean;
  readonly concurrency: number;
  /** The output of a run that did not come to its end. */
  readonly resume: string | null;
  readonly progress: boolean;
}

/** Lines that may be taken in before the result of the first of them is out, and what they weigh (characters). */
const windowItems = (concurrency: number) => Math.max(64, 16 * concurrency);
const windowWeight = 16 * 1024 * 1024;

export async function runChatBatch(input: ChatBatchInput, context: CliContext): Promise<number> {
  checkTogether(input, context);
  const session = await sessionToContinue(input, context);
  const destination = await openDestination(input.resume, context);
  const stop = new AbortController();
  // Each request under way listens to it.
  setMaxListeners(0, stop.signal);
  const { signal } = context;
  const follow = () => stop.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow);
  const progress = batchProgress(input, context);
  try {
    const shared = input.inSession
      ? { session_id: session ?? destination.session_id, title: input.title }
      : null;
    await answerAll(input, context, destination, shared, progress, stop);
    await destination.keep();
    progress.stop();
    await context.say(`${progress.summary()}.`);
    return progress.failed > 0 ? exitSomeFailed : exitDone;
  } catch (error) {
    progress.stop();
    await context.say(`Stopped: ${progress.summary()}. ${howToGoOn(input)}`);
    // Not as JSON: what stands on stdout are results alone.
    if (error instanceof ParleyError) return tellFailure(error, context);
    throw error;
  } finally {
    progress.stop();
    signal.removeEventListener('abort', follow);
    await destination.close();
  }
}

async function answerAll(
  input: ChatBatchInput,
  context: CliContext,
  destination: BatchDestination,
  shared: SharedSession | null,
  progress: BatchProgress,
  stop: AbortController,
): Promise<void> {
  const { backend, apiKey } = await context.open();
  const { now, random, newRequestId } = context.host;
  let defaultMode: Promise<string> | null = null;
  const answers = new BatchAnswers({
    service: backend.service,
    honoursKeys: () => backend.extensions?.includes('idempotency') ?? false,
    call: { apiKey, signal: stop.signal, pacesItself: false, showReasoning: false },
    newRequestId,
    batch: destination.batch,
    defaultMode: () => {
      defaultMode ??= chooseMode(input.mode, context);
      return defaultMode;
    },
    pace: new Pace({ now, wait: (ms, waiting) => delay(ms, undefined, { signal: waiting }) }),
    shared,
    random,
    giveUp: (error) => stop.abort(error),
    mostUnanswered: Math.max(20, 5 * input.concurrency),
  });
  const items = batchItems({
    reading: { ...context.reading('lines', 'each is a request'), signal: stop.signal },
    read: (line) => readItem(line, { messageBytes: defaultLimits.messageBytes, inSession: input.inSession }),
    messageBytes: defaultLimits.messageBytes,
    answered: destination.answered,
    skipped: () => progress.skip(),
  });
  await runInOrder<BatchLine, BatchOutcome>(items, {
    concurrency: input.inSession ? 1 : input.concurrency,
    window: { items: windowItems(input.concurrency), weight: windowWeight },
    signal: stop.signal,
    lane: ({ request }) => {
      if (input.inSession) return 'all';
      return request instanceof ParleyError ? null : request.session_id;
    },
    weight: ({ size }) => size,
    weightOf: ({ text }) => text.length,
    run: (item) => answers.answer(item),
    write: async (results) => {
      progress.add(results);
      try {
        await destination.write(results.map(({ text }) => text).join(''));
      } catch (error) {
        stop.abort(error);
        throw error;
      }
    },
  });
  stop.signal.throwIfAborted();
}

function checkTogether(input: ChatBatchInput, { host, options }: CliContext): void {
  const { words, files, session, title, inSession } = input;
  const isStdin = words.length === 0 || (words.length === 1 && words[0] === '-');
  const alone = [
    !isStdin && 'Words',
    files.length > 0 && '-f',
    !input.stdin && '-n (or PARLEY_NO_STDIN)',
    input.jsonStream && '--json-stream',
    input.extractCode !== null && '--extract-code',
  ].find(Boolean);
  if (alone) {
    throw new ParleyError('USAGE', `${alone} and --batch cannot be used together.`, {
      hint: 'A batch is read from stdin, a request a line: parley chat --batch < in.txt',
    });
  }
  const chosen = [session !== null && '-s', input.continue && '-c', title !== null && '--title'];
  const [one, other] = chosen.filter(Boolean);
  if (other) throw new ParleyError('USAGE', `${one} and ${other} cannot be used together.`);
  if (one && !inSession) {
    throw new ParleyError('USAGE', `${one} with --batch needs --in-session.`, {
      hint: 'With it, all lines are turns of that one session; without, each line names its own session_id or title.',
    });
  }
  if (session !== null) idsFromWords([session]);
  if (input.resume !== null && options.jq !== null) {
    throw new ParleyError('USAGE', '--resume and --jq cannot be used together.', {
      hint: 'The file must hold the results as they are. Filter it once it is whole.',
    });
  }
  if (host.stdin.isTerminal()) {
    throw new ParleyError('USAGE', 'There is no batch on standard input: it is a terminal.', {
      hint: 'Give it a file or a pipe: parley chat --batch < in.txt',
    });
  }
}

function batchProgress(input: ChatBatchInput, context: CliContext): BatchProgress {
  const { stdin, now } = context.host;
  const { stderr, options } = context;
  // Results on the same screen are progress enough.
  const isLive = stderr.redraws && (input.resume !== null || !context.stdout.isTerminal);
  const form = isLive ? 'live' : input.progress ? 'lines' : 'none';
  const inputSize = stdin.size();
  return new BatchProgress({ stderr, form: options.quiet ? 'none' : form, inputSize, startTimer, now });
}

function howToGoOn({ resume }: ChatBatchInput): string {
  const file = resume === null ? 'OUTPUT' : quoteForShell(resume);
  const where = resume === null ? ' (OUTPUT: the file that the results went to)' : '';
  return `Go on with the same input, and the same options besides: parley chat --batch --resume ${file} < INPUT${where}`;
}
