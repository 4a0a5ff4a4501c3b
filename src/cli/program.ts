// The program: finds the command of a command line, parses the global options, and runs the command. Each command has its own file.
import { Command, CommanderError, InvalidArgumentError, type OutputConfiguration } from 'commander';
import type { CliHost } from './cli-host.ts';
import { commandPath, eachCommand } from './command-tree.ts';
import { canConverse } from './commands/repl.ts';
import { CliContext, type GlobalOptions } from './context.ts';
import { reportFailure, reportInWords } from './error-report.ts';
import { commandUsage, formatHelp } from './help-layout.ts';
import { hasOptions, OutlinedProgram, PartialProgram } from './partial-commands.ts';
import type { Register, Run } from './run.ts';
import { expandTagRemovals } from './tag-removals.ts';

/** Runs one command line (without node and script) and returns its exit status. `typed` is the part that the user typed. */
export async function runCommandLine(
  argv: readonly string[],
  host: CliHost,
  typed: readonly string[] = argv,
): Promise<number> {
  let status = 0;
  const run: Run =
    (work) =>
    async (...inputs) => {
      const command = inputs.at(-1) as Command;
      const context = new CliContext(host, globalOptions(command), commandPath(command));
      try {
        status = await runFiltered(context, async () => {
          await requireUtf8(typed, host);
          // Commander also passes the options of a command that has none.
          const used = hasOptions(command) ? inputs : inputs.toSpliced(-2, 1);
          return (await work(...(used.with(-1, context) as Parameters<typeof work>))) ?? 0;
        });
      } finally {
        await context.close();
      }
    };
  let output = '';
  const write = (text: string) => {
    output += text;
  };
  const config: OutputConfiguration = {
    writeOut: write,
    writeErr: write,
    // Help has no colours. Asking the streams would create them, which takes longer than all the rest of a help page.
    getOutHasColors: () => true,
    getErrHasColors: () => true,
    getOutHelpWidth: () => host.columns('stdout'),
    getErrHelpWidth: () => host.columns('stderr'),
  };
  const words = withOptionValues(argv);
  if (await isCommandLine(words)) {
    const program = await buildProgram(words, host.version, run, config, { isPartial: true });
    if ((await parse(program, words)) === null) return status;
    output = '';
  }
  const program = await buildProgram(words, host.version, run, config);
  const failure = await parse(program, words);
  return failure === null
    ? status
    : runWithoutCommand(failure.error, { argv, host, program, output, ...failure });
}

/** Runs the command of the words. Null if it ran; otherwise why they could not be parsed. */
async function parse(
  program: Command,
  words: readonly string[],
): Promise<{ readonly error: CommanderError; readonly failedCommand: Command } | null> {
  let failedCommand = program;
  eachCommand(program, (command) =>
    command.exitOverride((error) => {
      failedCommand = command;
      throw error;
    }),
  );
  try {
    await program.parseAsync(words, { from: 'user' });
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { error, failedCommand };
  }
}

/** True if the words begin with a command. `help` after a group reads the options of the other commands. */
async function isCommandLine([first = '', second]: readonly string[]): Promise<boolean> {
  if (first.startsWith('-') || second === 'help') return false;
  return first === 'chat' || first === 'sessions' || (await import('./all-commands.ts')).isCommand(first);
}

interface ParsedCommandLine {
  readonly argv: readonly string[];
  readonly host: CliHost;
  readonly program: Command;
  /** The command whose words could not be parsed. */
  readonly failedCommand: Command;
  /** The help or the error that commander wrote. */
  readonly output: string;
}

/** Handles a command line that named no command to run: it begins a conversation, shows help, or is an error. */
async function runWithoutCommand(
  error: CommanderError,
  { argv, host, program, failedCommand, output }: ParsedCommandLine,
): Promise<number> {
  const context = new CliContext(host, globalOptions(program), commandPath(failedCommand));
  if (failedCommand === program && (await hasMessage(error, argv, program)))
    return runCommandLine(['chat', ...argv], host, argv);
  const hasNoWords = error.code === 'commander.help' && program.args.length === 0;
  const isConversation =
    hasNoWords || (failedCommand === program && (await hasConversationOptions(error, argv)));
  // Without a message `chat` fails, in JSON as `--json` asks.
  const reportsInJson = hasNoWords && context.options.json && !canConverse(context);
  if (reportsInJson || (isConversation && context.stdinIsFed))
    return runCommandLine(['chat', ...argv], host, argv);
  if (isConversation && canConverse(context)) return runCommandLine(['repl', ...argv], host, argv);
  if (hasNoWords || error.exitCode === 0) {
    const isHelp = error.code !== 'commander.version';
    const appendix = isHelp ? await (await import('./commands/help.ts')).helpAppendix(failedCommand) : '';
    await context.stdout.write(output + appendix);
    return 0;
  }
  const { usageError } = await import('./usage-error.ts');
  const failure = usageError(error, failedCommand, argv);
  return runFiltered(context, () => Promise.reject(failure));
}

/** Refuses arguments that are not UTF-8, if the system provides their bytes. */
async function requireUtf8(typed: readonly string[], host: CliHost): Promise<void> {
  if (!typed.some((word) => word.includes('\ufffd'))) return;
  const commandLine = host.commandLine();
  if (commandLine === null) return;
  const { requireText } = await import('./argument-text.ts');
  requireText(typed, commandLine);
}

/** True if no command is named, but the first word that is no option is a text of several words, as in `parley -c "What is my name?"`. */
async function hasMessage(
  { code }: CommanderError,
  argv: readonly string[],
  program: Command,
): Promise<boolean> {
  if (code !== 'commander.unknownCommand' && code !== 'commander.unknownOption') return false;
  const chat = program.commands.find((command) => command.name() === 'chat');
  const options = [...program.options, ...(chat?.options ?? [])];
  const takesValue = (word = '') =>
    options.some(({ required, short, long }) => required && [short, long].includes(word));
  const text = argv.find((word, at) => !word.startsWith('-') && !takesValue(argv[at - 1]));
  const [first = '', second] = text?.trim().split(/\s+/) ?? [];
  const { isCommand } = await import('./all-commands.ts');
  return second !== undefined && !isCommand(first);
}

/** True if no command is named, but the options may be those of a chat or the REPL, as in `parley -m echo`. */
async function hasConversationOptions({ code }: CommanderError, argv: readonly string[]): Promise<boolean> {
  if (code !== 'commander.unknownOption') return false;
  const { isCommand } = await import('./all-commands.ts');
  return !argv.some(isCommand);
}

/** The tree with the command that `argv` begins with, or with all commands if it names none. A partial one has only the options that `argv` names. */
export async function buildProgram(
  argv: readonly string[],
  version: string,
  run: Run,
  output: OutputConfiguration,
  { isPartial = false } = {},
): Promise<Command> {
  const [first = '', second = ''] = argv;
  // The help of the program shows neither the commands of groups nor the options of commands.
  const isOutline = argv.length === 1 && ['--help', '-h'].includes(first);
  const program: Command = isPartial
    ? new PartialProgram(argv, 'parley')
    : new (isOutline ? OutlinedProgram : Command)('parley');
  program
    .configureOutput(output)
    .description('The command line for conversations kept as sessions.')
    .version(version, '-V, --version', 'print the version')
    .option('--profile <name>', 'use this stored profile')
    .option('--url <url>', 'use this server, with the key from PARLEY_API_KEY')
    .option('--store <url>', 'use this PostgreSQL store: postgres://USER@HOST/DATABASE')
    .option('--json', 'print only JSON on stdout')
    .option('--jq <filter>', 'filter the JSON with this jq expression; implies --json')
    .option('--quiet', 'hide hints and progress')
    .option('--progress', 'report the progress of long work every 10 s, even without a terminal')
    .option('--no-color', 'disable colours')
    .option('--no-input', 'never prompt; fail where an answer is needed')
    .option(
      '--timeout <seconds>',
      'longest silence of a server or model (default: 300 before the first byte, 60 in a stream); for a locked store at most 5',
      seconds,
    )
    .option('--insecure-http', 'allow plain http: to a host that is not this machine')
    .option('--insecure-store', 'allow a remote store without checking its certificate')
    .option('--ca <file>', 'also trust the certificates (PEM) in this file')
    .option('--debug', 'print each request as a curl command, and stack traces of failures')
    .helpOption('-h, --help', 'print help')
    .configureHelp({ showGlobalOptions: true, formatHelp, commandUsage })
    .showSuggestionAfterError();
  for (const register of await registrations(first)) register(program, run, isOutline ? null : second);
  return program;
}

/**
 * The registrations for a command line. If it begins with a command, only that command is registered, because describing all takes time. The
 * most frequent ones, `chat`, `--version` and `sessions`, do not even load the others.
 */
async function registrations(first: string): Promise<readonly Register[]> {
  if (first === 'chat') return [(await import('./commands/chat.ts')).registerChat];
  if (first === '--version') return [];
  if (first === 'sessions') {
    const [{ registerSessions }, { registerHelpOfGroups }] = await Promise.all([
      import('./commands/sessions/sessions.ts'),
      import('./commands/help.ts'),
    ]);
    return [registerSessions, registerHelpOfGroups];
  }
  const { registrationsOf } = await import('./all-commands.ts');
  return registrationsOf(first);
}

function globalOptions(command: Command): GlobalOptions {
  const options = command.optsWithGlobals();
  const jq: string | null = options['jq'] ?? null;
  return {
    profile: options['profile'] ?? null,
    url: options['url'] ?? null,
    // The events of a chat and a reply that matches a schema are JSON already.
    json:
      options['json'] ?? (jq !== null && options['jsonStream'] !== true && options['schema'] === undefined),
    jq,
    quiet: options['quiet'] ?? false,
    progress: options['progress'] ?? false,
    color: options['color'] ?? true,
    input: options['input'] ?? true,
    timeout: options['timeout'] ?? null,
    insecureHttp: options['insecureHttp'] ?? false,
    store: options['store'] ?? null,
    insecureStore: options['insecureStore'] ?? false,
    ca: options['ca'] ?? null,
    debug: options['debug'] ?? false,
  };
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 86_400)) {
    throw new InvalidArgumentError('Give a number of seconds above 0, up to 86400.');
  }
  return value;
}

/**
 * Runs the work with stdout behind the filter of `--jq`, and reports its failure. An invalid filter is reported before the work starts; a
 * value that the filter cannot process, after it.
 */
async function runFiltered(context: CliContext, work: () => Promise<number>): Promise<number> {
  const { jq } = context.options;
  try {
    if (jq !== null) await context.filterStdout(jq);
  } catch (error) {
    // The reader of stdout expects the output of the filter, not an error body.
    return reportInWords(error, context);
  }
  let status: number;
  try {
    status = await work();
  } catch (error) {
    status = await reportFailure(error, context);
  }
  try {
    await context.finishStdout();
    return status;
  } catch (error) {
    const filterStatus = await reportInWords(error, context);
    return status || filterStatus;
  }
}

/** Adds the optional value of `--extract-code`, because commander would otherwise read the message after it as the value. */
function withOptionValues(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return expandTagRemovals(argv).map((word, at) =>
    word === '--extract-code' && (end === -1 || at < end) ? '--extract-code=first' : word,
  );
}
