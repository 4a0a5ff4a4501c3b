// What a command works with: the streams, the settings that hold everywhere, and the service, opened when first asked for.
import { type Conversant, readCurrentSession, writeCurrentSession } from '../config/current-session.ts';
import { resolveTarget, type Target, type TargetRequest } from '../config/settings.ts';
import type { Administration } from '../service/administration.ts';
import type { BackendOptions, EngineOptions, OpenedBackend } from '../service/backend-opening.ts';
import type { Call } from '../service/call.ts';
import { BackendAccess } from './backend-access.ts';
import { administrationOf } from './backend-administration.ts';
import type { CliHost } from './cli-host.ts';
import type { JqOutput } from './terminal/jq-output.ts';
import type { Output } from './terminal/output.ts';
import { canPrompt, type Prompting } from './terminal/prompt.ts';
import { isFed, type StdinReading } from './terminal/stdin.ts';
import { type StartTimer, startTimer } from './terminal/timer.ts';

const noTimer: StartTimer = () => () => {};

/** The options that every command takes, before or after its name. */
export interface GlobalOptions {
  readonly profile: string | null;
  readonly url: string | null;
  readonly json: boolean;
  /** A filter of jq for each value on stdout. */
  readonly jq: string | null;
  readonly quiet: boolean;
  readonly input: boolean;
  readonly color: boolean;
  /** Seconds. */
  readonly timeout: number | null;
  readonly insecureHttp: boolean;
  /** A file of certificates to trust besides the usual ones. */
  readonly ca: string | null;
  readonly debug: boolean;
}

/** Of a context that is not a whole command. */
interface ContextParts {
  /** Stops it, in place of the host's signals. */
  readonly signal?: AbortSignal;
  readonly backend?: BackendAccess;
}

export class CliContext {
  /** Its signals stop the process; what stops this context stands here. */
  readonly host: Omit<CliHost, 'signal' | 'stopSignal'>;
  readonly options: GlobalOptions;
  readonly signal: AbortSignal;
  readonly stopSignal: AbortSignal;
  /** Of the last call; null before the first. */
  requestId: string | null = null;
  /** The command, as it is typed. */
  readonly commandPath: string;
  readonly #processHost: CliHost;
  readonly #backend: BackendAccess;
  #filtered: JqOutput | undefined;

  constructor(host: CliHost, options: GlobalOptions, commandPath = 'parley', parts: ContextParts = {}) {
    this.#processHost = host;
    this.host = host;
    this.options = options;
    this.commandPath = commandPath;
    this.signal = parts.signal ?? host.signal;
    this.stopSignal = parts.signal ?? host.stopSignal;
    this.#backend =
      parts.backend ??
      new BackendAccess({
        chooseTarget: () => this.resolve('call'),
        open: (target, beginsStore) => host.openBackend(target, this.#openingWith(beginsStore)),
      });
  }

  /** The same with an end of its own: the signal stops it, and nothing else. */
  endedBy(signal: AbortSignal): CliContext {
    const parts = { signal, backend: this.#backend };
    return new CliContext(this.#processHost, this.options, this.commandPath, parts);
  }

  /** Another, with these options in place of its own. */
  withOptions(options: Partial<GlobalOptions>): CliContext {
    return new CliContext(this.#processHost, { ...this.options, ...options }, this.commandPath);
  }

  /** The same, talking to the same place, but with a backend of its own, which `open` opens. */
  withBackend(open: CliHost['openBackend']): CliContext {
    const { target } = this;
    const backend = new BackendAccess({
      chooseTarget: () => target,
      open: (place, beginsStore) => open(place, this.#openingWith(beginsStore)),
    });
    return new CliContext(this.#processHost, this.options, this.commandPath, { backend });
  }

  get stdout(): Output {
    return this.#filtered ?? this.host.output('stdout', { noColor: !this.options.color });
  }

  get stderr(): Output {
    return this.host.output('stderr', { noColor: !this.options.color });
  }

  /** From now on, what is written to stdout goes through the filter of `--jq`; `USAGE` for one that is none. */
  async filterStdout(filter: string): Promise<void> {
    const [{ Jq }, { jqOutput }] = await Promise.all([
      import('./terminal/jq.ts'),
      import('./terminal/jq-output.ts'),
    ]);
    const { stdout, stderr } = this;
    this.#filtered = jqOutput(stdout, await Jq.compile(filter, this.stopSignal), { stderr, startTimer });
  }

  /** Writes what the filter still holds; throws what it could not do. */
  async finishStdout(): Promise<void> {
    await this.#filtered?.flush();
    const failure = this.#filtered?.failure() ?? null;
    this.#filtered = undefined;
    if (failure !== null) throw failure;
  }

  /** Where this command talks to; throws where flags, variables and profiles select nothing that it may talk to. */
  get target(): Target {
    return this.#backend.target;
  }

  resolve(purpose: TargetRequest['purpose']): Target {
    const { env, profileFile, dataDirectory } = this.host;
    const { profile, url, insecureHttp } = this.options;
    const flags = { profile, url, insecureHttp };
    return resolveTarget({ flags, env, config: profileFile.read(), dataDirectory, purpose });
  }

  /** The service and the archive of the target. `beginsStore` as in `BackendOptions`, where it is the first to open it. */
  open({ beginsStore = false } = {}): Promise<OpenedBackend> {
    return this.#backend.open(beginsStore);
  }

  /** How servers are asked, of the API and of models alike. */
  get engineOptions(): EngineOptions {
    return {
      timeout: this.options.timeout,
      authorityFile: this.options.ca,
      trace: this.options.debug ? (line) => this.stderr.write(`${line}\n`) : null,
    };
  }

  /** `UNSUPPORTED` where the target is a server elsewhere. */
  async administration(): Promise<Administration> {
    const { backend } = await this.open();
    return administrationOf(backend, this.target.url);
  }

  /** From now on this is where the command talks to. Only before anything was opened. */
  talkTo(target: Target): void {
    this.#backend.talkTo(target);
  }

  async call(): Promise<Call> {
    const { apiKey } = await this.open();
    this.requestId = this.host.newRequestId();
    return {
      apiKey,
      signal: this.signal,
      idempotencyKey: null,
      requestId: this.requestId,
      pacesItself: false,
      showReasoning: false,
    };
  }

  /** The session last used in this terminal with this origin and key; null where there is none. */
  async currentSession(): Promise<string | null> {
    return readCurrentSession(this.host.dataDirectory, await this.#conversant());
  }

  async rememberSession(sessionId: string): Promise<void> {
    const { dataDirectory, now } = this.host;
    writeCurrentSession(dataDirectory, await this.#conversant(), sessionId, now());
  }

  /** True when stdin is something to read to its end: a pipe, a socket, a file. */
  get stdinIsFed(): boolean {
    return isFed(this.host.stdin.kind());
  }

  /** How stdin is read: `awaited` says for what, `otherwise` what to do if nothing is to come. */
  reading(awaited: string, otherwise: string): StdinReading {
    const { stdin } = this.host;
    const { signal } = this;
    const timer = this.options.quiet ? noTimer : startTimer;
    return { open: () => stdin.open(), awaited, otherwise, stderr: this.stderr, startTimer: timer, signal };
  }

  get prompting(): Prompting {
    const { stdin, env, job } = this.host;
    const { signal } = this;
    const allowed = canPrompt({
      stdinIsTerminal: stdin.isTerminal(),
      stderrIsTerminal: this.stderr.isTerminal,
      noInput: !this.options.input,
      env,
    });
    return { allowed, openStdin: () => stdin.open(), stderr: this.stderr, signal, job };
  }

  /** Talk: a line on stderr, unless `--quiet`. */
  async say(line: string): Promise<void> {
    if (!this.options.quiet) await this.stderr.write(`${line}\n`);
  }

  /** Closes what was opened. A later call opens it anew, with the modes that are set up then. */
  close(): Promise<void> {
    return this.#backend.close();
  }

  #openingWith(beginsStore: boolean): BackendOptions {
    return {
      ...this.engineOptions,
      onlyExisting: false,
      beginsStore,
      followsModes: false,
      say: (line) => this.say(line),
    };
  }

  async #conversant(): Promise<Conversant> {
    const { apiKey } = await this.open();
    return { origin: this.target.origin, key: apiKey, terminal: this.host.terminal() };
  }
}

/** What a function needs that asks the service, and nothing else. */
export type ServiceAccess = Pick<CliContext, 'open' | 'call'>;

/** What a function needs that prints an answer, and talks of it. */
export type Printing = Pick<CliContext, 'options' | 'stdout' | 'stderr' | 'say'>;
