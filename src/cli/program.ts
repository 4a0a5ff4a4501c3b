// The command tree: which words there are, and the options that hold everywhere. What a command does is in its own file.
import { Command, CommanderError, InvalidArgumentError, type OutputConfiguration } from 'commander';
import { ParleyError } from '../service/errors.ts';
import { registerChat } from './commands/chat.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerKeys } from './commands/keys/keys.ts';
import { registerLogin } from './commands/login.ts';
import { registerLogout } from './commands/logout.ts';
import { registerModels } from './commands/models.ts';
import { registerProfiles } from './commands/profiles/profiles.ts';
import { canConverse, registerRepl } from './commands/repl.ts';
import { registerServe } from './commands/serve.ts';
import { registerSessions } from './commands/sessions/sessions.ts';
import { registerVerify } from './commands/verify.ts';
import { CliContext, type CliHost, type GlobalOptions } from './context.ts';
import { reportFailure } from './error-report.ts';
import type { Run } from './run.ts';

/** Runs one command line (without node and script) to its end and returns the exit status. */
export async function runCommandLine(argv: readonly string[], host: CliHost): Promise<number> {
  let status = 0;
  const run: Run = async (command, work) => {
    const context = new CliContext(host, globalOptions(command));
    try {
      status = (await work(context)) ?? 0;
    } catch (error) {
      status = await reportFailure(error, context);
    } finally {
      await context.close();
    }
  };
  const written = { out: '', error: '' };
  const program = buildProgram(host.version, run, {
    writeOut: (text) => {
      written.out += text;
    },
    writeErr: (text) => {
      written.error += text;
    },
    getOutHelpWidth: () => host.output('stdout', { noColor: true }).columns(),
    getErrHelpWidth: () => host.output('stderr', { noColor: true }).columns(),
  });
  try {
    await program.parseAsync(helpForCommand(argv), { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const context = new CliContext(host, globalOptions(program));
    const bare = error.code === 'commander.help' && program.args.length === 0;
    if (bare && context.stdinIsFed) return runCommandLine(['chat', ...argv], host);
    if (bare && canConverse(context)) return runCommandLine(['repl', ...argv], host);
    if (bare || error.exitCode === 0) {
      await context.stdout.write(written.out + written.error);
      return 0;
    }
    if (error.code === 'commander.help') await context.stderr.write(written.error);
    return reportFailure(usageError(error, program), context);
  }
}

function buildProgram(version: string, run: Run, output: OutputConfiguration): Command {
  const program = new Command('parley')
    .configureOutput(output)
    .description('The command line for conversations kept as sessions.')
    .version(version, '-V, --version', 'print the version')
    .option('--profile <name>', 'talk to where this stored profile says')
    .option('--url <url>', 'talk to this server, with the key from PARLEY_API_KEY')
    .option('--json', 'print JSON alone on stdout')
    .option('--quiet', 'print no hints and no progress')
    .option('--no-color', 'print without colour')
    .option('--no-input', 'never ask; fail where an answer is needed')
    .option('--timeout <seconds>', 'longest silence to wait through', seconds)
    .option('--insecure-http', 'allow plain http: to a host that is not this machine')
    .option('--ca <file>', 'trust the certificates (PEM) in this file, too')
    .option('--debug', 'print each request as a curl command, and stack traces on failure')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', examples);
  registerChat(program, run);
  registerRepl(program, run);
  registerSessions(program, run);
  registerModels(program, run);
  registerVerify(program, run);
  registerLogin(program, run);
  registerLogout(program, run);
  registerProfiles(program, run);
  registerKeys(program, run);
  registerServe(program, run);
  registerDoctor(program, run);
  return program;
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
  return {
    profile: options['profile'] ?? null,
    url: options['url'] ?? null,
    json: options['json'] ?? false,
    quiet: options['quiet'] ?? false,
    color: options['color'] ?? true,
    input: options['input'] ?? true,
    timeout: options['timeout'] ?? null,
    insecureHttp: options['insecureHttp'] ?? false,
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

/** commander's `help` takes one word; `help sessions list` is `sessions list --help`. */
function helpForCommand(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' && argv.length > 2 ? [...argv.slice(1), '--help'] : argv;
}

/** commander's own words, in the form that all failures have. */
function usageError({ message, code }: CommanderError, { args }: Command): ParleyError {
  if (code === 'commander.help') {
    const [first, second = ''] = args;
    const what = first === 'help' ? `Unknown command '${second}'.` : 'A command is missing.';
    return new ParleyError('USAGE', what);
  }
  const [what = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}${/[.?!]$/.test(what) ? '' : '.'}`;
  return new ParleyError('USAGE', sentence, { hint: suggestion?.replace(/^\((.*)\)$/, '$1') ?? '' });
}
