// Applies `--jq` to stdout. Each line of JSON that a command writes passes the filter. The results are written as `gh` writes them: strings
// as text, other values as compact JSON. Lines are filtered in groups, but no line waits long.
import { ParleyError } from '../../service/errors.ts';
import { ForwardingOutput } from './forwarding-output.ts';
import { complaint, type Jq } from './jq.ts';
import { escapeDangerous } from './json.ts';
import type { Output, UntrustedWriter } from './output.ts';
import type { OutputText } from './terminal-text.ts';
import { startTimer } from './timer.ts';

/** Lines are held back up to this many characters, and for this time at most. */
const maxHeldCharacters = 256 * 1024;
const maxHeldMs = 20;

export class JqOutput extends ForwardingOutput {
  readonly #jq: Jq;
  /** Gets the output of jq's `debug`. */
  readonly #stderr: Output;
  #lines: string[] = [];
  #heldCharacters = 0;
  /** The beginning of a line whose end was not written yet. */
  #rest = '';
  #working = Promise.resolve();
  #stopTimer: (() => void) | null = null;
  #flushError: unknown = null;
  #failures = 0;
  #firstFailure = '';

  constructor(target: Output, jq: Jq, stderr: Output) {
    super(target);
    this.#jq = jq;
    this.#stderr = stderr;
  }

  /** The output is JSON, which no layout may change. */
  override get formats(): boolean {
    return false;
  }

  override visible(text: string): string {
    return text;
  }

  override untrusted(): UntrustedWriter {
    const write = (text: string) => this.write(text);
    return { write, end: async () => {}, endLine: () => write('\n') };
  }

  async write(text: OutputText): Promise<void> {
    if (this.#flushError !== null) throw this.#flushError;
    const json = String(text);
    const completeLines = (this.#rest + json).split('\n');
    this.#rest = completeLines.pop() ?? '';
    this.#lines.push(...completeLines.filter((line) => line !== ''));
    this.#heldCharacters += json.length;
    if (this.#heldCharacters >= maxHeldCharacters) return this.flush();
    this.#stopTimer ??= startTimer(maxHeldMs, () => {
      this.flush().catch((error: unknown) => {
        this.#flushError = error;
      });
    });
  }

  /** Filters and writes the lines that are held back. */
  flush(): Promise<void> {
    this.#stopTimer?.();
    this.#stopTimer = null;
    const lines = this.#lines;
    this.#lines = [];
    this.#heldCharacters = 0;
    if (lines.length > 0) this.#working = this.#working.then(() => this.#filter(lines));
    return this.#working;
  }

  override async finish(): Promise<boolean> {
    await this.flush();
    return super.finish();
  }

  /** The failure of the filter, or null. Call it after `flush`. */
  failure(): ParleyError | null {
    if (this.#failures === 0) return null;
    const values = this.#failures === 1 ? 'a value' : `${this.#failures} values`;
    return new ParleyError('FILTER_FAILED', `The filter of --jq failed on ${values}: ${this.#firstFailure}`, {
      hint: 'The command itself was carried out; only its output is incomplete. A "?" after a path skips values without that path.',
    });
  }

  async #filter(lines: readonly string[]): Promise<void> {
    const { output, diagnostics, failed } = await this.#jq.run(lines.join('\n'));
    await this.target.write(resultText(output));
    if (failed) {
      const errors = diagnostics.split('\n').filter((line) => /^jq: (error|parse error)/.test(line));
      this.#failures += errors.length || 1;
      this.#firstFailure ||= complaint(errors[0] ?? diagnostics);
    }
    await this.#stderr.write(failed ? '' : diagnostics);
  }
}

/** Converts jq's lines of compact JSON. A string becomes its text. In other values, dangerous characters are escaped. */
function resultText(output: string): string {
  return output
    .split('\n')
    .map((line) => (line.startsWith('"') ? JSON.parse(line) : escapeDangerous(line)))
    .join('\n');
}
