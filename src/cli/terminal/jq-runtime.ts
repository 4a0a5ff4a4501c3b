// jq, compiled to WebAssembly: a filter over JSON texts. It blocks its thread until it ends, if it ends. `raw` of jq-wasm copies all of
// its input for each byte that it reads, so bytes go in and out through Emscripten, the runtime under it (`stdin`, `stdout`, `stderr`).

/** The result of one run of a filter. */
export interface JqResult {
  /** Compact JSON, one line a value. */
  readonly output: string;
  /** The output of jq on its stderr: an error, or a `debug`. */
  readonly diagnostics: string;
  readonly failed: boolean;
}

interface Emscripten {
  callMain(words: string[]): number;
  preRun?: unknown;
}

/** Each run leaves data on the stack of the runtime. The stack has 64 KiB and overflows after about 300 runs. */
const maxRunsOfRuntime = 32;

export class JqRuntime {
  readonly #input = new ByteReader();
  readonly #output: ByteWriter;
  readonly #diagnostics: ByteWriter;
  #runtime: Emscripten | null = null;
  #runs = 0;

  /** `limit` is in bytes of the output of one run. `overflow` is called when the output exceeds it, and the rest is dropped. */
  constructor(limit: number, overflow: () => void) {
    this.#output = new ByteWriter(limit, overflow);
    this.#diagnostics = new ByteWriter(limit, overflow);
  }

  /** Runs the filter over JSON texts. */
  async run(filter: string, texts: string): Promise<JqResult> {
    if (this.#runtime === null || this.#runs >= maxRunsOfRuntime) {
      this.#runtime = await this.#load();
      this.#runs = 0;
    }
    this.#runs++;
    this.#input.fill(texts);
    let status: number;
    try {
      status = this.#runtime.callMain(['-M', '-c', filter, '/dev/stdin']);
    } catch (error) {
      // A value or a filter that is too deep breaks the runtime.
      this.#runtime = null;
      status = -1;
      this.#diagnostics.writeText(`jq: error: ${error instanceof Error ? error.message : String(error)}\n`);
    }
    const output = this.#output.take();
    const diagnostics = this.#diagnostics.take();
    // The exit status reports only the last value.
    return { output, diagnostics, failed: status !== 0 || /^jq: (error|parse error)/m.test(diagnostics) };
  }

  async #load(): Promise<Emscripten> {
    const { default: start } = await import('jq-wasm/dist/build/jq.js');
    return start({
      thisProgram: 'jq',
      stdin: () => this.#input.next(),
      stdout: (byte: number | null) => this.#output.write(byte),
      stderr: (byte: number | null) => this.#diagnostics.write(byte),
      // This is called before the runtime starts. It removes the streams of jq-wasm, which would take precedence.
      monitorRunDependencies(this: Emscripten) {
        delete this.preRun;
      },
      // A runtime that breaks puts its message into the error that it throws.
      printErr: () => {},
    });
  }
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
  readonly #limit: number;
  readonly #overflow: () => void;
  #bytes = new Uint8Array(4096);
  #length = 0;

  constructor(limit: number, overflow: () => void) {
    this.#limit = limit;
    this.#overflow = overflow;
  }

  write(byte: number | null): void {
    // Null asks to flush.
    if (byte === null || this.#length > this.#limit) return;
    if (this.#length === this.#limit) this.#overflow();
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
