// stdout behind `--jq`: each line of JSON that a command writes goes through the filter, and what comes of it is written as `gh`
// does: strings as they are, all else as compact JSON. Lines are filtered many at a time, but none waits long.
import { ParleyError } from '../../service/errors.ts';
import { complaint, type Jq } from './jq.ts';
import { escapeDangerous } from './json.ts';
import type { Output, UntrustedWriter } from './output.ts';
import type { StartTimer } from './timer.ts';

export interface JqOutput extends Output {
  /** Filters and writes what is held. */
  flush(): Promise<void>;
  /** What the filter could not do, once all is flushed; null where it did all. */
  failure(): ParleyError | null;
}

/** Characters that are held at most, and for how long. */
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

/** jq's lines of compact JSON: a string as the text that it is, the rest fit for any terminal. */
function shown(output: string): string {
  return output
    .split('\n')
    .map((line) => (line.startsWith('"') ? JSON.parse(line) : escapeDangerous(line)))
    .join('\n');
}
