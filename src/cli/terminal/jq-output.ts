// Applies `--jq` to stdout. Each line of JSON that a command writes goes through the filter. The results are written as `gh` writes
// them: strings as text, other values as compact JSON. Lines are filtered in groups, but none waits long.
import { ParleyError } from '../../service/errors.ts';
import { complaint, type Jq } from './jq.ts';
import { escapeDangerous } from './json.ts';
import type { Output, UntrustedWriter } from './output.ts';
import type { StartTimer } from './timer.ts';

export interface JqOutput extends Output {
  /** Filters and writes the lines that are held. */
  flush(): Promise<void>;
  /** The failure of the filter, once all lines are flushed. Null if it had none. */
  failure(): ParleyError | null;
}

/** How many characters are held at most, and for how long. */
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
  let problem: unknown = null;
  let failures = 0;
  let firstFailure = '';

  const pass = async (texts: readonly string[]) => {
    const { output, talk, failed } = await jq.run(texts.join('\n'));
    await stdout.write(shown(output));
    const failing = failed ? talk.split('\n').filter((line) => /^jq: (error|parse error)/.test(line)) : [];
    if (failed) {
      failures += failing.length || 1;
      firstFailure ||= complaint(failing[0] ?? talk);
    }
    await stderr.write(failed ? '' : talk);
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
    if (problem !== null) throw problem;
    const whole = (rest + text).split('\n');
    rest = whole.pop() ?? '';
    lines.push(...whole.filter((line) => line !== ''));
    held += text.length;
    if (held >= heldCharacters) return flush();
    stopTimer ??= startTimer(heldMs, () => {
      flush().catch((error: unknown) => {
        problem = error;
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
    untrusted: () => chunks(write),
    flush,
    failure: () =>
      failures === 0
        ? null
        : new ParleyError(
            'FILTER_FAILED',
            `The filter of --jq failed on ${failures === 1 ? 'a value' : `${failures} values`}: ${firstFailure}`,
            {
              hint: 'What was asked for was done; only its output lacks. A "?" after a path skips what has no such place.',
            },
          ),
    async finish() {
      await flush();
      await stdout.finish();
    },
  };
}

function chunks(write: (text: string) => Promise<void>): UntrustedWriter {
  return { write, end: async () => {}, endLine: () => write('\n') };
}

/** Reads jq's lines of compact JSON. A string becomes its text, and other values become safe for any terminal. */
function shown(output: string): string {
  return output
    .split('\n')
    .map((line) => (line.startsWith('"') ? JSON.parse(line) : escapeDangerous(line)))
    .join('\n');
}
