// Checks replies by a JSON Schema in a thread of its own, within a time: a regular expression of a schema may take for ever, and a blocked
// main thread would see no signal.
import type { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import { startThread } from '../../system/program-thread.ts';
import type { Fault } from './exact-reader.ts';
import type { SchemaAnswer, SchemaOrder } from './schema-thread.ts';

/** How a check is done. */
interface CheckLimits {
  /** The longest check of one reply. The first answer of a thread may take as long as starts usually do at most. */
  readonly milliseconds: number;
  /** The file of the thread. It lies beside the chunk of the build that contains this code. */
  readonly thread: URL;
}

const usualLimits: CheckLimits = {
  milliseconds: 10_000,
  thread: new URL('./schema-thread.cjs', import.meta.url),
};
const mostMegabytes = 1024;

/** `json`: the value of the reply on one line. `faults`: why the reply does not match, the first to tell first. */
export type SchemaJudgement = Exclude<SchemaAnswer, { kind: 'ready' | 'refused' }>;

export class SchemaCheck {
  /** The schema on one line, as it is sent with a request. */
  readonly schema: string;
  readonly #text: string;
  readonly #limits: CheckLimits;
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;
  /** True once the thread has answered, and so has read the schema. */
  #isReady = false;
  /** Ends when the last check that was asked for ends: there is one thread. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(text: string, signal: AbortSignal, limits: CheckLimits) {
    this.schema = oneLine(text);
    this.#text = text;
    this.#signal = signal;
    this.#limits = limits;
  }

  /**
   * Rejects with `USAGE` for a schema that is none, or of which a part cannot be checked. `name` names it in messages. `signal` ends a
   * check, which then rejects with its reason.
   */
  static async open(
    text: string,
    name: string,
    signal: AbortSignal,
    limits: CheckLimits = usualLimits,
  ): Promise<SchemaCheck> {
    const check = new SchemaCheck(text, signal, limits);
    const answer = await check.#run(null);
    if (answer.kind === 'refused') throw refused(name, answer.fault);
    return check;
  }

  /** Judges a reply, after the replies that were given before. */
  judge(reply: string): Promise<SchemaJudgement> {
    const judgement = this.#last.then(async () => {
      const answer = await this.#run(reply);
      if (answer.kind === 'match' || answer.kind === 'mismatch') return answer;
      throw new Error('A schema that was read is refused.');
    });
    this.#last = judgement.catch(() => {});
    return judgement;
  }

  /** Null for no reply: the schema alone is read. */
  async #run(reply: string | null): Promise<SchemaAnswer> {
    const { thread: file } = this.#limits;
    const { milliseconds } = this.#isReady ? this.#limits : usualLimits;
    const signal = this.#signal;
    signal.throwIfAborted();
    this.#thread ??= startThread(file, { resourceLimits: { maxOldGenerationSizeMb: mostMegabytes } });
    const thread = this.#thread;
    const removals: (() => void)[] = [];
    try {
      const answer = await new Promise<SchemaAnswer>((resolve, reject) => {
        const end = () => {
          this.#thread = null;
          this.#isReady = false;
          void thread.terminate();
        };
        const stop = () => {
          end();
          reject(signal.reason);
        };
        const giveUp = (what: string) => {
          end();
          const fault = { place: '', reason: `it cannot be checked: ${what}` };
          resolve(reply === null ? { kind: 'refused', fault } : { kind: 'mismatch', faults: [fault] });
        };
        const onError = (error: NodeJS.ErrnoException) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') giveUp(`it takes more than ${mostMegabytes} MiB`);
          else if (error instanceof RangeError) giveUp(error.message);
          else {
            end();
            reject(unstartable(error));
          }
        };
        const timer = setTimeout(giveUp, milliseconds, `it takes longer than ${milliseconds / 1000} s`);
        signal.addEventListener('abort', stop);
        // Only these listeners are removed, because Node has listeners of its own on the worker.
        thread.on('message', resolve).on('error', onError);
        removals.push(
          () => clearTimeout(timer),
          () => signal.removeEventListener('abort', stop),
          () => thread.off('message', resolve).off('error', onError),
        );
        thread.postMessage({ schema: this.#text, reply } satisfies SchemaOrder);
      });
      this.#isReady = this.#thread === thread;
      return answer;
    } finally {
      for (const action of removals) action();
    }
  }
}

/** Empty for a text that is not JSON, which the thread refuses. */
function oneLine(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return '';
  }
}

function refused(name: string, { place, reason }: Fault): ParleyError {
  const where = place === '' ? '' : ` at ${place}`;
  return new ParleyError('USAGE', `The schema ${name} cannot be used${where}: ${reason}.`, {
    hint: 'Nothing was sent. Replies are checked by JSON Schema 2020-12, and every part of the schema must be checkable.',
    details: [{ field: place, problem: reason }],
  });
}

function unstartable(error: Error): ParleyError {
  if (isOutOfFiles(error)) {
    const message = 'The check of replies cannot be started: no more files may be opened.';
    return new ParleyError('UNAVAILABLE', message, { hint: outOfFilesHint });
  }
  return new ParleyError('INTERNAL_ERROR', `The check of replies cannot be started: ${error.message}.`, {
    hint: 'Is the installation whole? npm install -g parley-cli repairs it.',
  });
}
