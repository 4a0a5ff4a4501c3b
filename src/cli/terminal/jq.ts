// Runs a jq filter over JSON texts in a thread of its own. A filter may have no end, and a blocked main thread would see no signal. A
// signal or a time limit ends the thread.
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import { startThread } from '../../system/program-thread.ts';
import type { JqResult } from './jq-runtime.ts';
import type { JqRequest, JqResponse } from './jq-thread.ts';
import type { Environment } from './style.ts';

/** The build puts the file of the thread beside the chunk that contains this code. */
const threadFile = new URL('./jq-thread.cjs', import.meta.url);
const maxRunMs = 60_000;
/** The time limit after a signal. It is not zero, because the results of finished work must still be reported. */
const graceMs = 250;

/** Functions that could read or end more than the current value. They are redefined, because one run processes many values. */
const beyondOneValue = /\b(halt|halt_error|input|inputs|input_line_number)\b/;
const redefinitions =
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
  static async compile(filter: string, env: Environment, signal: AbortSignal): Promise<Jq> {
    const jq = new Jq(filter, signal);
    // Without input, jq compiles the filter and runs nothing.
    const { diagnostics, failed } = await jq.run('');
    if (!failed) {
      const changes = beyondOneValue.test(filter) ? redefinitions : '';
      jq.#filter = `${changes} ${variablesIn(filter, env)} ${filter}`;
      return jq;
    }
    throw new ParleyError('USAGE', `jq rejects the filter of --jq: ${complaint(diagnostics)}`, {
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
    const response = await this.#responseOf(thread, texts);
    if ('output' in response) return response;
    // The next run starts another thread.
    this.#thread = null;
    if ('unstartable' in response) throw unstartable(response.unstartable);
    void thread.terminate();
    signal.throwIfAborted();
    const problem =
      'overflow' in response ? `Its output exceeds ${response.overflow / 1024 / 1024} MiB` : response.problem;
    return { output: '', diagnostics: `jq: error: ${problem}\n`, failed: true };
  }

  async #responseOf(thread: Worker, texts: string): Promise<JqResponse | { readonly problem: string }> {
    const signal = this.#signal;
    const limit = new AbortController();
    const endAfter = (milliseconds: number) => setTimeout(() => limit.abort(), milliseconds);
    let timer = endAfter(signal.aborted ? graceMs : maxRunMs);
    const hurry = () => {
      clearTimeout(timer);
      timer = endAfter(graceMs);
    };
    signal.addEventListener('abort', hurry);
    try {
      const message = once(thread, 'message', { signal: limit.signal });
      thread.postMessage({ filter: this.#filter, texts } satisfies JqRequest);
      return (await message)[0];
    } catch (error) {
      if (limit.signal.aborted) return { problem: `It took longer than ${maxRunMs / 1000} s` };
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
        return { problem: 'It needs more memory than is available' };
      return { unstartable: reasonOf(error) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', hurry);
    }
  }
}

/**
 * Defines `env` and `$ENV`, which hold made-up variables in WebAssembly. Only variables that the filter names are passed on, because a whole
 * environment may exceed the stack of jq.
 */
function variablesIn(filter: string, env: Environment): string {
  if (!/\benv\b|\$ENV\b/.test(filter)) return '';
  const named = Object.entries(env).filter(([name, value]) => value !== undefined && filter.includes(name));
  return `${JSON.stringify(Object.fromEntries(named))} as $ENV | def env: $ENV;`;
}

function unstartable(reason: string): ParleyError {
  if (isOutOfFiles(new Error(reason))) {
    const message = 'jq, which --jq needs, cannot be started: no more files may be opened.';
    return new ParleyError('UNAVAILABLE', message, { hint: `The rest was not filtered. ${outOfFilesHint}` });
  }
  return new ParleyError('INTERNAL_ERROR', `jq, which --jq needs, cannot be started: ${reason}.`, {
    hint: 'The rest was not filtered. If the installation is damaged, repair it with npm install -g parley-cli.',
  });
}

/** The error message of jq without its prefix and without the filter, on one line. */
export function complaint(diagnostics: string): string {
  const [first = ''] = diagnostics.split('\n');
  return first
    .replace(/^jq: (error( \([^)]*\))*|parse error): /, '')
    .replace(' (Unix shell quoting issues?) at <top-level>', ' (is it quoted for the shell?)')
    .replace(' at <top-level>', '')
    .replace(/:?$/, '.');
}
