// Records a conversation in the REPL, in a pseudo-terminal with a temporary configuration, and prints what a person would have seen:
// `node scripts/record-repl.js`. `--write` replaces the recording in the README.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import headless from '@xterm/headless';
import { environment, run } from './measure.js';
import { temporaryDirectory } from './temporary-directory.js';

const parley = fileURLToPath(new URL('../bin/parley.js', import.meta.url));
const readme = fileURLToPath(new URL('../README.md', import.meta.url));
const patienceMs = 10_000;

/** Each is typed when the prompt is shown. */
const lines = ['My name is Ada.', 'What is my name?', '/titel Family', '/title Family', '/status'];

const home = temporaryDirectory();
const env = { ...environment(home), TERM: 'xterm-256color', NO_COLOR: '1' };
run([parley, 'models'], { env, expect: (output) => output.includes('eliza') });
const recording = `$ parley\n${await record(env)}\n`;
if (process.argv.includes('--write')) intoReadme(recording);
else process.stdout.write(recording);

async function record(env) {
  const terminal = new headless.Terminal({ cols: 110, rows: 50, allowProposedApi: true });
  const program = spawn(process.execPath, [parley], { cols: 110, rows: 50, cwd: home, env });
  const ended = new Promise((resolve) => program.onExit(resolve));
  program.onData((text) => terminal.write(text));
  for (const line of lines) {
    await prompt(terminal);
    program.write(`${line}\r`);
  }
  await prompt(terminal);
  program.write('\x04');
  const { exitCode } = await ended;
  if (exitCode !== 0) throw new Error(`parley ended with ${exitCode}:\n${textOf(terminal)}`);
  await new Promise((resolve) => terminal.write('', resolve));
  return textOf(terminal);
}

/** Waits until the cursor is after an empty prompt. */
async function prompt(terminal) {
  const { active } = terminal.buffer;
  const deadline = Date.now() + patienceMs;
  const stands = () => {
    const row = active.getLine(active.baseY + active.cursorY).translateToString(true, 0, active.cursorX);
    return /^eliza( \(.*\))?> $/.test(row);
  };
  for (let quiet = 0; quiet < 3; quiet = stands() ? quiet + 1 : 0) {
    if (Date.now() > deadline) throw new Error(`There is no prompt:\n${textOf(terminal)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Joins a row that the terminal wrapped to the one before. */
function textOf(terminal) {
  const { active } = terminal.buffer;
  let text = '';
  for (let row = 0; row < active.length; row += 1) {
    const line = active.getLine(row);
    text += `${row > 0 && !line.isWrapped ? '\n' : ''}${line.translateToString(true)}`;
  }
  return text.replace(/ +$/gm, '').trimEnd();
}

function intoReadme(recording) {
  const text = readFileSync(readme, 'utf8');
  const place = /(?<=<!-- recorded by scripts\/record-repl\.js -->\n```console\n)[\s\S]*?(?=```)/;
  if (!place.test(text)) throw new Error('The README has no place for a recording.');
  writeFileSync(
    readme,
    text.replace(place, () => recording),
  );
}
