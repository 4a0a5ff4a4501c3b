// Applies `--jq` to stdout. Each line of JSON that a command writes passes the filter. The results are written as `gh` writes them: strings
// as text, other values as compact JSON. Lines are filtered in groups, but no line waits long.
import { ParleyError } from '../../service/errors.ts';
import { complaint, type Jq } from './jq.ts';
import { escapeDangerous } from './json.ts';
import type { Output, UntrustedWriter } from './output.ts';
import type { StartTimer } from './timer.ts';

export interface JqOutput extends Output {
  /** Filters and writes the lines that are held back. */
  flush(): Promise<void>;
  /** The failure of the filter, or null. Call it after `flush`. */
  failure(): ParleyError | null;
}

/** Lines are held back up to this many characters, and for this time at most. */
const heldCharacters = 256 * 1024;
const heldMs = 20;

export function jqOutput(
  stdout: Output,
  jq: Jq,
  { stderr, startTimer }: { readonly stderr: Output; readonly startTimer: StartTimer },
): JqOutput {
  let lines: string[] = [];
  let held = 0;
  let rest = '';
  let working = Promise.resolve();
  let stopTimer: (() => void) | null = null;
  let flushError: unknown = null;
  let failures = 0;
  let firstFailure = '';

  const pass = async (texts: readonly string[]) => {
    const { output, diagnostics, failed } = await jq.run(texts.join('\n'));
    await stdout.write(printed(output));
    if (failed) {
      const errors = diagnostics.split('\n').filter((line) => /^jq: (error|parse error)/.test(line));
      failures += errors.length || 1;
      firstFailure ||= complaint(errors[0] ?? diagnostics);
    }
    await stderr.write(failed ? '' : diagnostics);
  };
  const flush = () => {
    stopTimer?.();
    stopTimer = null;
    const texts = lines;
    lines = [];
    held = 0;
    if (texts.length > 0) {
      working = working.then(() => pass(texts));
    }
    return working;
  };
  const write = async (text: string) => {
    if (flushError !== null) throw flushError;
    const completeLines = (rest + text).split('\n');
    rest = completeLines.pop() ?? '';
    lines.push(...completeLines.filter((line) => line !== ''));
    held += text.length;
    if (held >= heldCharacters) return flush();
    stopTimer ??= startTimer(heldMs, () => {
      flush().catch((error: unknown) => {
        flushError = error;
      });
    });
  };

  return {
    isTerminal: stdout.isTerminal,
    redraws: stdout.redraws,
    formats: false,
    colour: stdout.colour,
    gone: stdout.gone,
    get stream() {
      return stdout.stream;
    },
    columns: () => stdout.columns(),
    style: () => stdout.style(),
    draw: (line) => stdout.draw(line),
    erase: () => stdout.erase(),
    visible: (text) => text,
    write: (text) => write(String(text)),
    untrusted: () => unfilteredWriter(write),
    flush,
    failure: () =>
      failures === 0
        ? null
        : new ParleyError(
            'FILTER_FAILED',
            `The filter of --jq failed on ${failures === 1 ? 'a value' : `${failures} values`}: ${firstFailure}`,
            {
              hint: 'The command itself was carried out; only its output is incomplete. A "?" after a path skips values without that path.',
            },
          ),
    async finish() {
      await flush();
      await stdout.finish();
    },
  };
}

function unfilteredWriter(write: (text: string) => Promise<void>): UntrustedWriter {
  return { write, end: async () => {}, endLine: () => write('\n') };
}

/** Converts jq's lines of compact JSON. A string becomes its text. In other values, dangerous characters are escaped. */
function printed(output: string): string {
  return output
    .split('\n')
    .map((line) => (line.startsWith('"') ? JSON.parse(line) : escapeDangerous(line)))
    .join('\n');
}
