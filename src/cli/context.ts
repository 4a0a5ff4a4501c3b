// What a command works with: the streams, the settings that hold everywhere, and the service, opened when first asked for.
import type { Readable } from 'node:stream';
import { type Conversant, readCurrentSession, writeCurrentSession } from '../config/current-session.ts';
import type { ProfileFile } from '../config/profile-file.ts';
import { resolveTarget, type Target, type TargetRequest } from '../config/settings.ts';
import type { Administration } from '../service/administration.ts';
import type {
  BackendOptions,
  EngineOptions,
  OpenedBackend,
  ServedBackend,
  ServeOptions,
} from '../service/backend-opening.ts';
import type { Call } from '../service/call.ts';
import type { FoundModels, ModelServer } from '../service/model-server.ts';
import type { LoadLocks } from '../system/file-lock.ts';
import { administrationOf } from './administration.ts';
import type { Job } from './job.ts';
import type { JqOutput } from './terminal/jq-output.ts';
import type { Output } from './terminal/output.ts';
import { canPrompt, type Prompting } from './terminal/prompt.ts';
import { isFed, type StdinKind, type StdinReading } from './terminal/stdin.ts';
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

export interface StandardInput {
  isTerminal(): boolean;
  kind(): StdinKind;
  /** Bytes; null where the end is not known. */
  size(): number | null;
  /** Gives the stream; it is touched only when it is read. */
  open(): Readable;
}

/** What this process is and has; the process boundary hands it in. */
export interface CliHost {
  readonly version: string;
  readonly nodeVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profileFile: ProfileFile;
  readonly dataDirectory: string;
  readonly locks: LoadLocks;
  readonly job: Job;
  /** The process's command line as bytes, a NUL after each word; null where the system does not tell. */
  commandLine(): Uint8Array | null;
  readonly stdin: StandardInput;
  output(name: 'stdout' | 'stderr', options: { readonly noColor: boolean }): Output;
  /** Identifies the file that stdout is written to; null where it is none. */
  outputFile(): string | null;
  /** Fires with an `Interruption`: a signal came, or nobody reads stdout any more. */
  readonly signal: AbortSignal;
  /** Fires for a signal alone: for work that is to be done whether or not somebody reads of it. */
  readonly stopSignal: AbortSignal;
  now(): number;
  /** 0 to 1. */
  random(): number;
  newRequestId(): string;
  /** Identifies the terminal this runs in; null without one. */
  terminal(): string | null;
  openBackend(target: Target, options: BackendOptions): Promise<OpenedBackend>;
  openServedBackend(options: ServeOptions): Promise<ServedBackend>;
  /** Asks model servers which models they have. Contacts these and no other; never rejects for what a server does. */
  findModels(
    servers: readonly ModelServer[],
    options: EngineOptions,
    signal: AbortSignal,
  ): Promise<readonly FoundModels[]>;
}

export class CliContext {
  readonly host: CliHost;
  readonly options: GlobalOptions;
  /** Of the last call; null before the first. */
  requestId: string | null = null;
  /** The command, as it is typed. */
  readonly commandPath: string;
  #target: Target | undefined;
  #filtered: JqOutput | undefined;
  #opened: Promise<OpenedBackend> | undefined;

  constructor(host: CliHost, options: GlobalOptions, commandPath = 'parley') {
    this.host = host;
    this.options = options;
    this.commandPath = commandPath;
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
    this.#filtered = jqOutput(stdout, await Jq.compile(filter, this.host.stopSignal), { stderr, startTimer });
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
    this.#target ??= this.resolve('call');
    return this.#target;
  }

  resolve(purpose: TargetRequest['purpose']): Target {
    const { env, profileFile, dataDirectory } = this.host;
    const { profile, url, insecureHttp } = this.options;
    const flags = { profile, url, insecureHttp };
    return resolveTarget({ flags, env, config: profileFile.read(), dataDirectory, purpose });
  }

  /** The service and the archive of the target. `beginsStore` as in `BackendOptions`, where it is the first to open it. */
  open({ beginsStore = false } = {}): Promise<OpenedBackend> {
    this.#opened ??= this.host.openBackend(this.target, {
      ...this.engineOptions,
      onlyExisting: false,
      beginsStore,
      followsModes: false,
      say: (line) => this.say(line),
    });
    return this.#opened;
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
    this.#target = target;
  }

  async call(): Promise<Call> {
    const { apiKey } = await this.open();
    this.requestId = this.host.newRequestId();
    return {
      apiKey,
      signal: this.host.signal,
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
    const { stdin, signal } = this.host;
    const timer = this.options.quiet ? noTimer : startTimer;
    return { open: () => stdin.open(), awaited, otherwise, stderr: this.stderr, startTimer: timer, signal };
  }

  get prompting(): Prompting {
    const { stdin, env, signal, job } = this.host;
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
  async close(): Promise<void> {
    // A backend that could not be opened was reported by whoever asked for it.
    const opened = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    await opened?.backend.close();
  }

  async #conversant(): Promise<Conversant> {
    const { apiKey } = await this.open();
    return { origin: this.target.origin, key: apiKey, terminal: this.host.terminal() };
  }
}
