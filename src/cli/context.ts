// The context of a command: the streams, the global options, and the service, which is opened at its first use.
import { type CurrentSession, CurrentSessions, type SessionHolder } from '../config/current-session.ts';
import type { ModePlace } from '../config/mode-place.ts';
import { resolveTarget, type Target, type TargetRequest } from '../config/settings.ts';
import type { Administration } from '../service/administration.ts';
import type { BackendOptions, EngineOptions, OpenedBackend } from '../service/backend-opening.ts';
import type { Call } from '../service/call.ts';
import { BackendAccess } from './backend-access.ts';
import { administrationOf } from './backend-administration.ts';
import type { CliHost } from './cli-host.ts';
import { serverKeepsText } from './ephemeral-option.ts';
import type { JqOutput } from './terminal/jq-output.ts';
import { writeNotice } from './terminal/notice.ts';
import type { Output } from './terminal/output.ts';
import { canPrompt, type Prompting } from './terminal/prompt.ts';
import { type InputWait, isFed, type StdinReading } from './terminal/stdin.ts';
import { type StartTimer, startTimer } from './terminal/timer.ts';

const noTimer: StartTimer = () => () => {};

/** The global options, which may stand before or after the name of the command. */
export interface GlobalOptions {
  readonly profile: string | null;
  readonly url: string | null;
  readonly json: boolean;
  /** The jq filter for each value on stdout. */
  readonly jq: string | null;
  readonly quiet: boolean;
  readonly progress: boolean;
  readonly input: boolean;
  readonly color: boolean;
  /** The time-out in seconds. */
  readonly timeout: number | null;
  readonly insecureHttp: boolean;
  /** The address of a store in PostgreSQL; null for the store of the profile, or the one of this machine. */
  readonly store: string | null;
  readonly insecureStore: boolean;
  /** A file of certificates to trust in addition to the usual ones. */
  readonly ca: string | null;
  readonly debug: boolean;
}

/** The options that select the target as a user types them, for messages about their values. */
export const targetWords = { profile: '--profile', url: '--url', store: '--store' };

/** The parts in which a derived context differs from that of the command. */
interface ContextParts {
  /** Stops the context, in place of the host's signals. */
  readonly signal?: AbortSignal;
  readonly backend?: BackendAccess;
  readonly keepsNoText?: boolean;
}

export class CliContext {
  /** The host without its signals, because `signal` alone stops this context. */
  readonly host: Omit<CliHost, 'signal' | 'stopSignal'>;
  readonly options: GlobalOptions;
  readonly signal: AbortSignal;
  readonly stopSignal: AbortSignal;
  /** The id of the last call; null before the first. */
  requestId: string | null = null;
  /** The words of the command as they are typed. */
  readonly commandPath: string;
  readonly #processHost: CliHost;
  readonly #backend: BackendAccess;
  readonly #currentSessions: CurrentSessions;
  #keepsNoText: boolean;
  #filtered: JqOutput | undefined;
  #modePlace: Promise<ModePlace> | undefined;

  constructor(host: CliHost, options: GlobalOptions, commandPath = 'parley', parts: ContextParts = {}) {
    this.#processHost = host;
    this.#currentSessions = new CurrentSessions(host.dataDirectory);
    this.host = host;
    this.options = options;
    this.commandPath = commandPath;
    this.signal = parts.signal ?? host.signal;
    this.stopSignal = parts.signal ?? host.stopSignal;
    this.#keepsNoText = parts.keepsNoText ?? false;
    this.#backend =
      parts.backend ??
      new BackendAccess({
        chooseTarget: () => this.resolve('call'),
        open: (target, beginsStore) => host.openBackend(target, this.#openingOptions(beginsStore)),
      });
  }

  /** A copy that only this signal stops. */
  withSignal(signal: AbortSignal): CliContext {
    const parts = { signal, backend: this.#backend, keepsNoText: this.#keepsNoText };
    return new CliContext(this.#processHost, this.options, this.commandPath, parts);
  }

  /** A copy with some options replaced. */
  withOptions(options: Partial<GlobalOptions>): CliContext {
    return new CliContext(this.#processHost, { ...this.options, ...options }, this.commandPath);
  }

  /** A copy with the same target and its own backend, which `open` opens. */
  withBackend(open: CliHost['openBackend']): CliContext {
    const { target } = this;
    const backend = new BackendAccess({
      chooseTarget: () => target,
      open: (place, beginsStore) => open(place, this.#openingOptions(beginsStore)),
    });
    const parts = { backend, keepsNoText: this.#keepsNoText };
    return new CliContext(this.#processHost, this.options, this.commandPath, parts);
  }

  get stdout(): Output {
    return this.#filtered ?? this.host.output('stdout', { noColor: !this.options.color });
  }

  get stderr(): Output {
    return this.host.output('stderr', { noColor: !this.options.color });
  }

  /** From now on, sends stdout through the filter of `--jq`. Throws `USAGE` for an invalid filter. */
  async filterStdout(filter: string): Promise<void> {
    const [{ Jq }, { JqOutput }] = await Promise.all([
      import('./terminal/jq.ts'),
      import('./terminal/jq-output.ts'),
    ]);
    const { stdout, stderr, host, stopSignal } = this;
    const jq = await Jq.compile(filter, host.env, stopSignal);
    this.#filtered = new JqOutput(stdout, jq, stderr);
  }

  /** Flushes the filter, and throws its failure if there is one. */
  async finishStdout(): Promise<void> {
    await this.#filtered?.flush();
    const failure = this.#filtered?.failure() ?? null;
    this.#filtered = undefined;
    if (failure !== null) throw failure;
  }

  /** The target of the command. Throws if options, variables and profiles select no usable one. */
  get target(): Target {
    return this.#backend.target;
  }

  resolve(purpose: TargetRequest['purpose']): Target {
    const { env, profileFile, dataDirectory } = this.host;
    const { profile, url, insecureHttp, store, insecureStore } = this.options;
    const flags = { profile, url, insecureHttp, store, insecureStore, words: targetWords };
    return resolveTarget({ flags, env, config: profileFile.read(), dataDirectory, purpose });
  }

  /** Opens the service and the archive of the target. `beginsStore` is as in `BackendOptions` and has an effect at the first call only. */
  open({ beginsStore = false } = {}): Promise<OpenedBackend> {
    const { signal } = this;
    return this.#backend.open(beginsStore, signal === this.#processHost.signal ? null : signal);
  }

  /** Opens the modes of the embedded service of the target, to read and change them. Later calls return the same. */
  openModes(): Promise<ModePlace> {
    this.#modePlace ??= this.host.openModes(this.target);
    return this.#modePlace;
  }

  /** The options for requests to servers of the API and of models. */
  get engineOptions(): EngineOptions {
    return {
      timeout: this.options.timeout,
      authorityFile: this.options.ca,
      trace: this.options.debug ? (line) => this.stderr.write(`${line}\n`) : null,
    };
  }

  /** Throws `UNSUPPORTED` if the target is a server. */
  async administration(): Promise<Administration> {
    const { backend } = await this.open();
    return administrationOf(backend, this.target.url);
  }

  /** True if no text of a conversation is written to a file and no session is remembered. */
  get keepsNoText(): boolean {
    return this.#keepsNoText;
  }

  /** Turns on {@link keepsNoText}. Call it before anything is opened. Throws `UNSUPPORTED` if the target is a server. */
  keepNoText(): void {
    if (this.target.url !== null) throw serverKeepsText(this.target.url);
    this.#keepsNoText = true;
  }

  /** Replaces the target of the command. Call it before anything is opened. */
  useTarget(target: Target): void {
    this.#backend.useTarget(target);
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

  /** The last session of this terminal with this origin and key; null if there is none. */
  async currentSession(): Promise<CurrentSession | null> {
    return this.#currentSessions.read(await this.#holder());
  }

  /** The last session of any terminal with this origin and key; null if there is none. */
  async lastSession(): Promise<CurrentSession | null> {
    return this.#currentSessions.read({ ...(await this.#holder()), terminal: null });
  }

  /** Remembers the session for `--continue`. `mode` is that of its last turn; null for a session without a turn. */
  async rememberSession(sessionId: string, mode: string | null): Promise<void> {
    if (this.#keepsNoText) return;
    const { extensions } = (await this.open()).backend;
    const known = this.target.url !== null && extensions !== null && { extensions };
    this.#currentSessions.write(await this.#holder(), { sessionId, mode, ...known }, this.host.now());
  }

  /** True if stdin is a pipe, a socket or a file, and therefore has an end. */
  get stdinIsFed(): boolean {
    return isFed(this.host.stdin.kind());
  }

  /** The options for reading stdin. `awaited` names what is read; `skipHint` tells a user how to avoid the wait. */
  reading(awaited: string, skipHint: string): StdinReading {
    return { open: () => this.host.stdin.openBytes(), awaited, skipHint, ...this.inputWait };
  }

  /** What a reading needs to say that nothing arrives, and to be stopped. */
  get inputWait(): InputWait {
    // The stream is made once there is something to say: making it takes time.
    const stderr = { write: (text: string) => this.stderr.write(text) };
    return { stderr, startTimer: this.options.quiet ? noTimer : startTimer, signal: this.signal };
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

  /** Writes a line to stderr, unless `--quiet` is set. */
  async say(line: string): Promise<void> {
    if (!this.options.quiet) await writeNotice(line, this.stderr);
  }

  /** Like `say`, but dimmed. */
  async sayDimly(line: string): Promise<void> {
    if (!this.options.quiet) await writeNotice(line, this.stderr, (await this.stderr.style()).dim);
  }

  /** Closes the backend. A later call opens it again and reads the modes again. */
  closeBackend(): Promise<void> {
    return this.#backend.close();
  }

  /** Closes everything that the command has opened. */
  async close(): Promise<void> {
    // The caller of a failed `openModes` has already reported the failure.
    await (await this.#modePlace?.catch(() => undefined))?.close();
    await this.closeBackend();
  }

  #openingOptions(beginsStore: boolean): BackendOptions {
    return {
      ...this.engineOptions,
      onlyExisting: false,
      beginsStore,
      followsModes: false,
      keepsNoText: this.#keepsNoText,
      say: (line) => this.say(line),
    };
  }

  async #holder(): Promise<SessionHolder> {
    const { apiKey } = await this.open();
    return { origin: this.target.origin, key: apiKey, terminal: this.host.terminal() };
  }
}

/** The part of a context that calls the service. */
export type ServiceAccess = Pick<CliContext, 'open' | 'call'>;

/** The part of a context that prints a result and notes about it. */
export type Printing = Pick<CliContext, 'options' | 'stdout' | 'stderr' | 'say'>;
