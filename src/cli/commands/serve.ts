// `parley serve`: serves the embedded service over HTTP. The address is written to stdout, the log to stderr.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isLocalUrl } from '../../config/base-url.ts';
import type { RetentionTimerOptions } from '../../server/retention-timer.ts';
import type { ServerLimits } from '../../server/server-limits.ts';
import type { ServerLog } from '../../server/server-log.ts';
import type { Backend } from '../../service/backend.ts';
import type { ServedBackend } from '../../service/backend-opening.ts';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { asParleyError } from '../error-report.ts';
import { nextStep } from '../next-step.ts';
import type { Run } from '../run.ts';
import { successLine, toJson } from '../terminal/json.ts';
import type { Output } from '../terminal/output.ts';
import { timeSpan } from '../time-span.ts';
import { wholeNumber } from '../whole-number.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly rateLimit: number | undefined;
  readonly streamLimit: number | undefined;
  readonly drain: number | undefined;
  /** A file of modes that replaces the user's modes. */
  readonly modes: string | undefined;
  /** Where to serve the metrics; undefined for no metrics. */
  readonly metrics: MetricsAddress | undefined;
  readonly logFormat: 'json' | 'text';
  /** How often (ms) the retention policies run; undefined for never. */
  readonly retentionEvery: number | undefined;
  /** False to refuse a store of an older version. */
  readonly migrate: boolean;
}

type ServedMeasures = Pick<ServedBackend, 'measures'> & { readonly servers: () => number };

interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** How long one of several servers keeps serving after SIGTERM, until the load balancer knows that it stops. */
const sharedDrainSeconds = 5;

export function registerServe(parent: Command, run: Run): void {
  parent
    .command('serve')
    .description('serve the embedded service over HTTP')
    .option(
      '--host <host>',
      'the address to listen on; use a TLS proxy in front of any that is not local',
      '127.0.0.1',
    )
    .option('--port <number>', 'the port to listen on; 0 picks a free one', wholeNumber(0, 65_535), 8787)
    .option(
      '--rate-limit <number>',
      'requests per second and key, on all servers of a store together; others get 429 (default: 20000)',
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--stream-limit <number>',
      'concurrent streaming replies per key, on all servers of a store together (default: 2000)',
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--drain <seconds>',
      'keep serving this long after SIGTERM, while /readyz answers 503 (default: 5 with PostgreSQL, 0 with SQLite)',
      wholeNumber(0, 3600),
    )
    .option(
      '--modes <file>',
      'serve the modes in this file (YAML or JSON) instead of the configured ones; SIGHUP reloads it',
    )
    .option(
      '--metrics <[host:]port>',
      'serve metrics for Prometheus on this port, without a key (default host: 127.0.0.1)',
      metricsAddress,
    )
    .addOption(
      new Option('--log-format <format>', 'the format of the log on stderr')
        .choices(['json', 'text'])
        .default('json'),
    )
    .option(
      '--retention-every <time>',
      'run the retention policies this often, as in 12h or 1d (default: never); only one of several servers runs them',
      timeSpan,
    )
    .option('--no-migrate', 'refuse a store of an older version instead of migrating it')
    .action(run(runServe));
}

function metricsAddress(text: string): MetricsAddress {
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]:|([^:[\]]+):)?(\d+)$/.exec(text) ?? [];
  if (port === undefined)
    throw new InvalidArgumentError('Give a port, or a host and a port: 9464, 0.0.0.0:9464, [::1]:9464.');
  return { host: bracketed ?? named ?? '127.0.0.1', port: wholeNumber(0, 65_535)(port) };
}

export async function runServe(flags: ServeFlags, context: CliContext): Promise<never> {
  const target = context.resolve('report');
  const { url } = target;
  if (url !== null) {
    throw new ParleyError('UNSUPPORTED', `Only the embedded service can be served, not ${url}.`, {
      hint: 'Select it with --profile local, without --url and PARLEY_URL.',
    });
  }
  const { host } = context;
  const { serverLog } = await import('../../server/server-log.ts');
  const { logger, flush } = serverLog(
    logTo(context.stderr),
    host.now,
    flags.logFormat === 'text' ? (await import('../../server/log-text.ts')).textOfLogLine : undefined,
  );
  const served = await host.openServedBackend(target, {
    timeout: context.options.timeout,
    authorityFile: context.options.ca,
    modesFile: flags.modes ?? null,
    refusesOlder: !flags.migrate,
    say: (line) => context.say(line),
  });
  if (flags.modes !== undefined) host.job.onHangUp(() => void reload(served, logger));
  served.followModes?.(() => void reload(served, logger));
  try {
    await serveUntilStopped(served, flags, logger, context);
    throw context.signal.reason;
  } finally {
    await served.backend.close();
    flush();
  }
}

/** Serves until a signal. Replies that are running at the first signal may finish. */
async function serveUntilStopped(
  served: ServedBackend,
  flags: ServeFlags,
  logger: ServerLog['logger'],
  context: CliContext,
): Promise<void> {
  const [{ App }, { listen }, { randomUUID }] = await Promise.all([
    import('../../server/app.ts'),
    import('../../server/listen.ts'),
    import('node:crypto'),
  ]);
  const { now, version } = context.host;
  const limits = await limitsOf(flags, served);
  const servers = served.servers ?? (() => 1);
  const measured = flags.metrics && (await serveMetrics(flags.metrics, { ...served, servers }, version));
  const metrics = measured?.metrics ?? null;
  const app = new App({
    service: served.backend.service,
    archive: served.backend.archive,
    serverLimits: limits,
    version,
    logger,
    ready: () => served.ready(),
    now,
    // A counter would reveal to each client how many requests the others send.
    newRequestId: () => `req_${randomUUID()}`,
    servers,
    onRequest: () => served.shareReads(),
    metrics,
  });
  const listening = await listen(app, { host: flags.host, port: flags.port, limits });
  const retention = await startRetention(flags.retentionEvery, served.backend, {
    logger,
    now,
    metrics,
    confirmCommand: (plan) => `parley retention run --project ${plan.project_id} --confirm ${plan.sessions}`,
  });
  await announce({ ...listening, metrics: measured?.url ?? null }, served.defaultMode(), context);
  await aborted(context.signal);
  await Promise.all([listening.stop(), retention?.stop()]);
  await measured?.stop();
}

async function limitsOf(
  { rateLimit, streamLimit, drain }: ServeFlags,
  { servers }: ServedBackend,
): Promise<ServerLimits> {
  const { defaultServerLimits } = await import('../../server/server-limits.ts');
  const drainSeconds = drain ?? (servers === null ? 0 : sharedDrainSeconds);
  return {
    ...defaultServerLimits,
    ...(rateLimit !== undefined && { requestsPerSecond: rateLimit }),
    ...(streamLimit !== undefined && { streamsPerKey: streamLimit }),
    drainMs: drainSeconds * 1000,
  };
}

async function serveMetrics(address: MetricsAddress, served: ServedMeasures, version: string) {
  const [{ ServerMetrics }, { listenForMetrics }] = await Promise.all([
    import('../../server/server-metrics.ts'),
    import('../../server/metrics-listener.ts'),
  ]);
  const metrics = new ServerMetrics({ version, ...served });
  return { metrics, ...(await listenForMetrics(metrics, address)) };
}

async function startRetention(
  everyMs: number | undefined,
  { administration }: Backend,
  options: Omit<RetentionTimerOptions, 'everyMs'>,
) {
  if (everyMs === undefined || administration === null) return null;
  const { RetentionTimer } = await import('../../server/retention-timer.ts');
  return new RetentionTimer(await administration.retention(), { ...options, everyMs });
}

/** Reloads the modes, and logs the outcome. */
async function reload(
  served: { reloadModes(): Promise<void> },
  logger: { info(text: string): void; error(fields: object, text: string): void },
): Promise<void> {
  try {
    await served.reloadModes();
    logger.info('modes read again');
  } catch (error) {
    const failure = asParleyError(error);
    const reason = `${failure.message} ${nextStep(failure)}`.trim();
    logger.error({ code: failure.code, reason }, 'modes not read again: the old ones stay');
  }
}

async function announce(
  { url, host, port, metrics }: { url: string; host: string; port: number; metrics: string | null },
  mode: string,
  context: CliContext,
) {
  if (context.options.json) {
    return context.stdout.write(successLine({ url, host, port, metrics }));
  }
  await context.stdout.write(`Parley is listening on ${url}\n`);
  if (metrics !== null) await context.stdout.write(`Metrics are at ${metrics}\n`);
  if (context.options.quiet) return;
  // Over plain HTTP, everybody on the network can read the key unless a proxy encrypts the traffic.
  const isExposed = !isLocalUrl(url);
  // These addresses stand for every address of this machine. Other machines cannot connect to them.
  const isEvery = ['0.0.0.0', '::'].includes(host);
  const clientUrl = isEvery ? `http://HOST:${port}` : url;
  await context.stdout.write(`
Create a key here (it is printed only once), and log in with it on each client:
  parley keys create --project NAME
  parley login --url ${clientUrl}${isExposed ? ' --insecure-http' : ''}
${isEvery ? '(HOST: the name or the address of this machine)\n' : ''}${isExposed ? 'This sends the key unencrypted. Better: put an HTTPS proxy in front.\n' : ''}
Without Parley:
  curl ${url}/v1/chat \\
    -H "Authorization: Bearer $PARLEY_API_KEY" \\
    -H 'Content-Type: application/json' \\
    -d '{"mode":"${mode}","message":"Hello"}'

API documentation: ${url}/docs
Ctrl-C stops the server and keeps partial replies.
`);
}

/** How many bytes of log are buffered for a slow reader. Further lines are dropped and counted. */
const maxBufferedBytes = 1024 * 1024;

function logTo(stderr: Output): (lines: string) => void {
  let dropped = 0;
  return (lines) => {
    if (stderr.stream.writableLength > maxBufferedBytes) {
      dropped += lines.split('\n').length - 1;
      return;
    }
    const gap = dropped === 0 ? '' : `${toJson({ level: 'warn', msg: 'log lines dropped', dropped })}\n`;
    dropped = 0;
    // Not awaited, because the log must not delay a request.
    void stderr.write(gap + lines);
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
