// A filter of jq over JSON texts, in a thread of its own: a filter may have no end, and what holds this thread lets no signal be
// seen. There, it can be ended: by a signal, and by the time that it takes.
import { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import type { JqResult } from './jq-runtime.ts';
import type { JqAnswer, JqOrder } from './jq-thread.ts';

/** Of a run's time; and what it still gets of that after a signal, for what was done is to be told. */
const longestRunMs = 60_000;
const graceMs = 250;

/** What could see, or end, more than the value at hand, although many are filtered in one run. */
const reachesFurther = /\b(halt|halt_error|input|inputs|input_line_number)\b/;
const ownReach =
  'label $__value | def halt: break $__value; def halt_error: error; def halt_error(code): error; ' +
  'def input: error("No more inputs"); def inputs: empty; def input_line_number: 0;';

export class Jq {
  #filter: string;
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;

  private constructor(filter: string, signal: AbortSignal) {
    // One that begins with a minus is a filter, not an option.
    this.#filter = ` ${filter}`;
    this.#signal = signal;
  }

  /** `USAGE` for a filter that jq does not take. `signal` ends what runs: that rejects with its reason. */
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

  /** The filter over each of some JSON texts: one run at a time. */
  async run(texts: string): Promise<JqResult> {
    const signal = this.#signal;
    // What a signal has ended is not begun again.
    if (signal.aborted && this.#thread === null) throw signal.reason;
    this.#thread ??= startThread();
    const thread = this.#thread;
    const letGo: (() => void)[] = [];
    try {
      return await new Promise<JqResult>((resolve, reject) => {
        const end = (what: string) => {
          this.#thread = null;
          void thread.terminate();
          if (signal.aborted) reject(signal.reason);
          else resolve(broken(what));
        };
        let timer: NodeJS.Timeout | undefined;
        const endAfter = (milliseconds: number) => {
          clearTimeout(timer);
          timer = setTimeout(end, milliseconds, `It took longer than ${longestRunMs / 1000} s`);
        };
        const hurry = () => endAfter(graceMs);
        const onMessage = (answer: JqAnswer) => {
          if ('overflow' in answer) end(`It gives more than ${answer.overflow / 1024 / 1024} MiB`);
          else if ('unstartable' in answer) reject(unstartable(answer.unstartable));
          else resolve(answer);
        };
        const onError = (error: NodeJS.ErrnoException) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end('It takes more memory than there is');
          else reject(unstartable(error.message));
        };
        signal.addEventListener('abort', hurry);
        // Not all listeners: Node has its own among them.
        thread.on('message', onMessage).on('error', onError);
        letGo.push(
          () => clearTimeout(timer),
          () => signal.removeEventListener('abort', hurry),
          () => thread.off('message', onMessage).off('error', onError),
        );
        endAfter(signal.aborted ? graceMs : longestRunMs);
        thread.postMessage({ filter: this.#filter, texts } satisfies JqOrder);
      });
    } finally {
      for (const action of letGo) action();
    }
  }
}

/** Beside the chunk of the build that this stands in. It alone keeps no process alive. */
function startThread(): Worker {
  const thread = new Worker(new URL('./jq-thread.cjs', import.meta.url), {
    // Nothing that Node was started with is meant for it.
    argv: [],
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
  });
  thread.unref();
  return thread;
}

function broken(what: string): JqResult {
  return { output: '', talk: `jq: error: ${what}\n`, failed: true };
}

function unstartable(reason: string): ParleyError {
  return new ParleyError('INTERNAL_ERROR', `jq, which --jq needs, cannot be started: ${reason}.`, {
    hint: 'Nothing more was filtered. Is the installation whole? npm install -g parley-cli repairs it.',
  });
}

/** jq's own words without its prefix and its echo of the filter, on one line. */
export function complaint(talk: string): string {
  const [first = ''] = talk.split('\n');
  return first
    .replace(/^jq: (error( \([^)]*\))*|parse error): /, '')
    .replace(' (Unix shell quoting issues?) at <top-level>', ' (is it quoted for the shell?)')
    .replace(' at <top-level>', '')
    .replace(/:?$/, '.');
}
