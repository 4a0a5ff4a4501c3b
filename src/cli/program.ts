// The command tree: the words of all commands, and the global options. Each command has a file of its own.
import { Command, CommanderError, InvalidArgumentError, Option, type OutputConfiguration } from 'commander';
import { ParleyError } from '../service/errors.ts';
import { beginning } from '../service/quoted.ts';
import type { CliHost } from './cli-host.ts';
import { commandPath, eachCommand } from './command-tree.ts';
import { registerChat } from './commands/chat.ts';
import { canConverse } from './commands/repl.ts';
import { CliContext, type GlobalOptions } from './context.ts';
import { reportFailure, tellFailure } from './error-report.ts';
import { commandLines, formatHelp } from './help-layout.ts';
import type { Register, Run } from './run.ts';
import { withRemovedTags } from './tag-words.ts';

/**
 * Runs one command line (without node and script) and returns its exit status. `typed` is the user's own part of it, if that is not all.
 */
export async function runCommandLine(
  argv: readonly string[],
  host: CliHost,
  typed: readonly string[] = argv,
): Promise<number> {
  let status = 0;
  const run: Run = async (command, work) => {
    const context = new CliContext(host, globalOptions(command), commandPath(command));
    try {
      status = await throughFilter(context, async () => {
        await requireTextTyped(typed, host);
        return (await work(context)) ?? 0;
      });
    } finally {
      await context.close();
    }
  };
  const written = { out: '', error: '' };
  const program = await buildProgram(argv, host.version, run, {
    writeOut: (text) => {
      written.out += text;
    },
    writeErr: (text) => {
      written.error += text;
    },
    // The texts have no colours. Asking the streams for theirs would make them, which takes longer than all the rest of a help page.
    getOutHasColors: () => true,
    getErrHasColors: () => true,
    getOutHelpWidth: () => host.output('stdout', { noColor: true }).columns(),
    getErrHelpWidth: () => host.output('stderr', { noColor: true }).columns(),
  });
  let asked = program;
  eachCommand(program, (command) =>
    command.exitOverride((error) => {
      asked = command;
      throw error;
    }),
  );
  try {
    await program.parseAsync(withValues(argv), { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const context = new CliContext(host, globalOptions(program), commandPath(asked));
    const bare = error.code === 'commander.help' && program.args.length === 0;
    const conversing = bare || (asked === program && (await hasConversationOptions(error, argv)));
    if (conversing && context.stdinIsFed) return runCommandLine(['chat', ...argv], host, argv);
    if (conversing && canConverse(context)) return runCommandLine(['repl', ...argv], host, argv);
    if (bare || error.exitCode === 0) {
      const isPage = error.code === 'commander.helpDisplayed';
      const further = isPage ? await (await import('./commands/help.ts')).furtherHelp(asked) : '';
      await context.stdout.write(written.out + written.error + further);
      return 0;
    }
    const failure = await usageError(error, asked, argv);
    return throughFilter(context, () => Promise.reject(failure));
  }
}

/** Refuses arguments that are not UTF-8, if the system gives their bytes. */
async function requireTextTyped(typed: readonly string[], host: CliHost): Promise<void> {
  if (!typed.some((word) => word.includes('\ufffd'))) return;
  const commandLine = host.commandLine();
  if (commandLine === null) return;
  const { requireText } = await import('./argument-text.ts');
  requireText(typed, commandLine);
}

/** True for options that belong to a chat or the REPL although no command is named, as in `parley -m echo`. */
async function hasConversationOptions({ code }: CommanderError, argv: readonly string[]): Promise<boolean> {
  if (code !== 'commander.unknownOption') return false;
  const { isCommand } = await import('./all-commands.ts');
  return !argv.some(isCommand);
}

/** The tree of the command that a line begins with, or of all commands for an empty line. */
export async function buildProgram(
  argv: readonly string[],
  version: string,
  run: Run,
  output: OutputConfiguration,
): Promise<Command> {
  const [first = '', second = ''] = argv;
  // The help of the program shows no commands of groups, and of its commands no options.
  const isOutline = argv.length === 1 && ['--help', '-h'].includes(first);
  const program = new (isOutline ? OutlinedProgram : Command)('parley')
    .configureOutput(output)
    .description('The command line for conversations kept as sessions.')
    .version(version, '-V, --version', 'print the version')
    .option('--profile <name>', 'talk to where this stored profile says')
    .option('--url <url>', 'talk to this server, with the key from PARLEY_API_KEY')
    .option('--store <url>', 'keep the sessions in this PostgreSQL: postgres://USER@HOST/DATABASE')
    .option('--json', 'print JSON alone on stdout')
    .option('--jq <filter>', 'print what this filter of jq makes of the JSON')
    .option('--quiet', 'print no hints and no progress')
    .option('--progress', 'without a terminal: tell every 10 s how far a long work is')
    .option('--no-color', 'print without colour')
    .option('--no-input', 'never ask; fail where an answer is needed')
    .option(
      '--timeout <seconds>',
      'longest silence to wait through, of a server or a model; of a locked store 5 at most',
      seconds,
    )
    .option('--insecure-http', 'allow plain http: to a host that is not this machine')
    .option('--insecure-store', 'allow a store elsewhere whose certificate is not checked')
    .option('--ca <file>', 'trust the certificates (PEM) in this file, too')
    .option('--debug', 'print each request as a curl command, and stack traces on failure')
    .helpOption('-h, --help', 'print help')
    .configureHelp({ showGlobalOptions: true, formatHelp })
    .showSuggestionAfterError()
    .addHelpText('after', examples);
  for (const register of await registrations(first)) register(program, run, isOutline ? null : second);
  return program;
}

class OutlinedProgram extends Command {
  override createCommand(name?: string): Command {
    return new OutlinedCommand(name);
  }
}

/** A command that keeps no more of its options than that it has some. Making the options of all commands takes a tenth of a help page. */
class OutlinedCommand extends Command {
  override option(): this {
    return this.addOption();
  }

  override addOption(): this {
    (this.options as Option[])[0] ??= new Option('--option');
    return this;
  }
}

/**
 * The registrations for a line. If it begins with a command, only that one is registered, because describing all takes time. A chat,
 * `--version` and those of sessions, the most frequent ones, do not even load the others.
 */
async function registrations(first: string): Promise<readonly Register[]> {
  if (first === 'chat') return [registerChat];
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

const examples = `
Examples:
  parley                                     a conversation at this terminal
  parley chat "My name is Ada."              start a conversation
  parley chat -c "What is my name?"          go on with it
  git diff | parley chat "Explain this:"     words, then what is piped in
  parley sessions list                       the conversations there are`;

function globalOptions(command: Command): GlobalOptions {
  const options = command.optsWithGlobals();
  const jq: string | null = options['jq'] ?? null;
  return {
    profile: options['profile'] ?? null,
    url: options['url'] ?? null,
    // The events of a chat, and a reply by a schema, are JSON already.
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
    throw new InvalidArgumentError('Give a number of seconds from above 0 to 86400.');
  }
  return value;
}

/**
 * Runs the work with stdout behind the filter of `--jq`, and reports its failure. An invalid filter is reported before the work; a value
 * that the filter cannot process, after it.
 */
async function throughFilter(context: CliContext, work: () => Promise<number>): Promise<number> {
  const { jq } = context.options;
  try {
    if (jq !== null) await context.filterStdout(jq);
  } catch (error) {
    // The reader of stdout expects the output of the filter, not another body.
    return tellFailure(error, context);
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
    const own = await tellFailure(error, context);
    return status || own;
  }
}

/** Adds the optional value of `--extract-code`, because commander would otherwise take the message behind it for the value. */
function withValues(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return withRemovedTags(argv).map((word, at) =>
    word === '--extract-code' && (end === -1 || at < end) ? '--extract-code=first' : word,
  );
}

/** A question with the command that was probably meant; empty if there is none. `suggestion` is that of commander. */
async function commandMeant(
  error: CommanderError,
  suggestion: string | undefined,
  asked: Command,
  argv: readonly string[],
): Promise<string> {
  const own = suggestion?.replace(/^\((.*)\)$/, '$1') ?? '';
  const suggest = await import('./suggest-command.ts');
  if (asked.parent === null) {
    return suggest.commandNamedElsewhere(error, argv) || own || suggest.suggestCommand(error, asked, argv);
  }
  if (asked.commands.length > 0) return suggest.commandOfGroup(error, asked) || own;
  if (asked.name() === 'login') return own || suggest.loginWithUrl(error, argv);
  return own || (asked.name() === 'repl' ? suggest.suggestCommand(error, asked, argv) : '');
}

/** The message of commander, in the form of all failures. */
async function usageError(
  error: CommanderError,
  asked: Command,
  argv: readonly string[],
): Promise<ParleyError> {
  const { message, code } = error;
  const path = commandPath(asked);
  if (code === 'commander.help') {
    return new ParleyError('USAGE', 'A command is missing.', {
      hint: `${commandLines(asked)}\nSee: ${path} --help`,
    });
  }
  const [what = '', suggestion] = message
    .replace(/^error: /, '')
    .replace(/'([^']+)'/g, (_, given: string) => `'${beginning(given)}'`)
    .split('\n');
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? '' : '.'}`;
  const guess = await commandMeant(error, suggestion, asked, argv);
  // A command to copy stands on a line of its own.
  const end = guess.endsWith('?') ? ' ' : '\n';
  return new ParleyError('USAGE', sentence, {
    hint: guess === '' ? '' : `${guess}${end}See: ${path} --help`,
  });
}
