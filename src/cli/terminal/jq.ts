// Runs a jq filter over JSON texts in a thread of its own. A filter may have no end, and a blocked main thread would see no signal. A
// signal or a time limit ends the thread.
import type { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import { startThread } from '../../system/program-thread.ts';
import type { JqResult } from './jq-runtime.ts';
import type { JqAnswer, JqOrder } from './jq-thread.ts';

/** It lies beside the chunk of the build that contains this code. */
const threadFile = new URL('./jq-thread.cjs', import.meta.url);
/** The time limit of one run, and what remains of it after a signal, because results of finished work must still be reported. */
const longestRunMs = 60_000;
const graceMs = 250;

/** Names that could read or end more than the current value. They are replaced, because many values go through one run. */
const reachesFurther = /\b(halt|halt_error|input|inputs|input_line_number)\b/;
const ownReach =
  'label $__value | def halt: break $__value; def halt_error: error; def halt_error(code): error; ' +
  'def input: error("No more inputs"); def inputs: empty; def input_line_number: 0;';

export class Jq {
  #filter: string;
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;

  private constructor(filter: string, signal: AbortSignal) {
    // A filter that begins with a minus is not an option.
    this.#filter = ` ${filter}`;
    this.#signal = signal;
  }

  /** Rejects with `USAGE` for a filter that jq refuses. `signal` ends a run, which then rejects with its reason. */
  static async compile(filter: string, signal: AbortSignal): Promise<Jq> {
    const jq = new Jq(filter, signal);
    // Without input, jq compiles the filter and runs nothing.
    const { talk, failed } = await jq.run('');
    if (!failed) {
      if (reachesFurther.test(filter)) jq.#filter = `${ownReach} ${filter}`;
      return jq;
    }
    throw new ParleyError('USAGE', `jq does not take the filter of --jq: ${complaint(talk)}`, {
      hint: 'Nothing was done. Filters are those of jq 1.7 (https://jqlang.org/manual/v1.7/); see: parley help formatting',
    });
  }

  /** Runs the filter over JSON texts. Only one run is active at a time. */
  async run(texts: string): Promise<JqResult> {
    const signal = this.#signal;
    // No run begins after a signal.
    if (signal.aborted && this.#thread === null) throw signal.reason;
    this.#thread ??= startThread(threadFile);
    const thread = this.#thread;
    const removals: (() => void)[] = [];
    try {
      return await new Promise<JqResult>((resolve, reject) => {
        const end = (what: string) => {
          this.#thread = null;
          void thread.terminate();
          if (signal.aborted) reject(signal.reason);
          else resolve(broken(what));
        };
        // The next run starts another thread.
        const stop = (failure: ParleyError) => {
          this.#thread = null;
          reject(failure);
        };
        let timer: NodeJS.Timeout | undefined;
        const endAfter = (milliseconds: number) => {
          clearTimeout(timer);
          timer = setTimeout(end, milliseconds, `It took longer than ${longestRunMs / 1000} s`);
        };
        const hurry = () => endAfter(graceMs);
        const onMessage = (answer: JqAnswer) => {
          if ('overflow' in answer) end(`It gives more than ${answer.overflow / 1024 / 1024} MiB`);
          else if ('unstartable' in answer) stop(unstartable(answer.unstartable));
          else resolve(answer);
        };
        const onError = (error: NodeJS.ErrnoException) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end('It takes more memory than there is');
          else stop(unstartable(error.message));
        };
        signal.addEventListener('abort', hurry);
        // Only these listeners are removed, because Node has listeners of its own on the worker.
        thread.on('message', onMessage).on('error', onError);
        removals.push(
          () => clearTimeout(timer),
          () => signal.removeEventListener('abort', hurry),
          () => thread.off('message', onMessage).off('error', onError),
        );
        endAfter(signal.aborted ? graceMs : longestRunMs);
        thread.postMessage({ filter: this.#filter, texts } satisfies JqOrder);
      });
    } finally {
      for (const action of removals) action();
    }
  }
}

function broken(what: string): JqResult {
  return { output: '', talk: `jq: error: ${what}\n`, failed: true };
}

function unstartable(reason: string): ParleyError {
  if (isOutOfFiles(new Error(reason))) {
    const message = 'jq, which --jq needs, cannot be started: no more files may be opened.';
    return new ParleyError('UNAVAILABLE', message, { hint: `Nothing more was filtered. ${outOfFilesHint}` });
  }
  return new ParleyError('INTERNAL_ERROR', `jq, which --jq needs, cannot be started: ${reason}.`, {
    hint: 'Nothing more was filtered. Is the installation whole? npm install -g parley-cli repairs it.',
  });
}

/** The message of jq without its prefix and without the filter, on one line. */
export function complaint(talk: string): string {
  const [first = ''] = talk.split('\n');
  return first
    .replace(/^jq: (error( \([^)]*\))*|parse error): /, '')
    .replace(' (Unix shell quoting issues?) at <top-level>', ' (is it quoted for the shell?)')
    .replace(' at <top-level>', '')
    .replace(/:?$/, '.');
}
