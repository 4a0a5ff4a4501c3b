// jq, as it was compiled to WebAssembly: a filter over JSON texts. jq-wasm's own `raw` copies all of its input for each byte that
// is read; so bytes go in and out through the runtime that it is built on (Emscripten's `stdin`, `stdout` and `stderr`).
import { ParleyError } from '../../service/errors.ts';
import { Interruption } from '../interruption.ts';
import { runBounded } from './bounded-run.ts';

/** What one run of a filter gave. */
export interface JqResult {
  /** Compact JSON, a line a value. */
  readonly output: string;
  /** What jq said on its stderr: an error, or a `debug`. */
  readonly talk: string;
  readonly failed: boolean;
}

interface JqRuntime {
  callMain(words: string[]): number;
  preRun?: unknown;
}

/** Each run leaves something on the runtime's stack of 64 KiB, which overflows after some 300 runs. */
const runsOfARuntime = 32;

/** Of a run's time: a filter may have no end, and while it runs no signal but Ctrl-C is seen. */
const longestRunMs = 60_000;

/** What could see, or end, more than the value at hand, although many are filtered in one run. */
const reachesFurther = /\b(halt|halt_error|input|inputs|input_line_number)\b/;
const ownReach =
  'label $__value | def halt: break $__value; def halt_error: error; def halt_error(code): error; ' +
  'def input: error("No more inputs"); def inputs: empty; def input_line_number: 0;';

export class Jq {
  #filter: string;
  readonly #input = new ByteReader();
  readonly #output = new ByteWriter();
  readonly #talk = new ByteWriter();
  #runtime: JqRuntime | null = null;
  #runs = 0;

  private constructor(filter: string) {
    // One that begins with a minus is a filter, not an option.
    this.#filter = ` ${filter}`;
  }

  /** `USAGE` for a filter that jq does not take. */
  static async compile(filter: string): Promise<Jq> {
    const jq = new Jq(filter);
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

  /** The filter over each of some JSON texts. */
  async run(texts: string): Promise<JqResult> {
    if (this.#runtime === null || this.#runs >= runsOfARuntime) {
      this.#runtime = await this.#load();
      this.#runs = 0;
    }
    this.#runs++;
    this.#input.fill(texts);
    const runtime = this.#runtime;
    let status: number;
    try {
      status = runBounded(() => runtime.callMain(['-M', '-c', this.#filter, '/dev/stdin']), longestRunMs);
    } catch (error) {
      // The runtime broke: too deep a value or filter, or one without an end.
      this.#runtime = null;
      if (error instanceof Interruption) throw error;
      status = -1;
      this.#talk.writeText(`jq: error: ${error instanceof Error ? error.message : String(error)}\n`);
    }
    const output = this.#output.take();
    const talk = this.#talk.take();
    // The status is that of the last value alone.
    return { output, talk, failed: status !== 0 || /^jq: (error|parse error)/m.test(talk) };
  }

  async #load(): Promise<JqRuntime> {
    const { default: start } = await import('jq-wasm/dist/build/jq.js');
    return start({
      thisProgram: 'jq',
      stdin: () => this.#input.next(),
      stdout: (byte: number | null) => this.#output.write(byte),
      stderr: (byte: number | null) => this.#talk.write(byte),
      // Called before the runtime starts: takes away jq-wasm's own streams, which would come before these.
      monitorRunDependencies(this: JqRuntime) {
        delete this.preRun;
      },
      // What it says when it breaks is in the error that it throws.
      printErr: () => {},
    });
  }
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

class ByteReader {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;

  fill(text: string): void {
    this.#bytes = new TextEncoder().encode(text);
    this.#at = 0;
  }

  next(): number | null {
    return this.#bytes[this.#at++] ?? null;
  }
}

class ByteWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  write(byte: number | null): void {
    // Null asks to flush.
    if (byte === null) return;
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }

  writeText(text: string): void {
    for (const byte of new TextEncoder().encode(text)) this.write(byte);
  }

  take(): string {
    const text = new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return text;
  }
}
