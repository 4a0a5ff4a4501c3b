// `parley doctor`: shows what Parley uses, where it comes from, and whether it works. Each line is one check. The first failure sets the exit
// status.
import type { Command } from 'commander';
import { exposure } from '../../config/exposed-files.ts';
import { ParleyError } from '../../service/errors.ts';
import { defaultLimits } from '../../service/limits.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { targetHint } from '../error-report.ts';
import { exitDone, exitStatusOf } from '../exit-codes.ts';
import { nextStep } from '../next-step.ts';
import type { Run } from '../run.ts';
import { successLine, toJson } from '../terminal/json.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { maxColumns } from '../terminal/text-width.ts';
import { wrappedNotice } from '../terminal/wrapped-line.ts';
import type { Check, RunCheck } from './doctor/check.ts';
import { checkModelServers } from './doctor/model-servers.ts';

export function registerDoctor(parent: Command, run: Run): void {
  parent
    .command('doctor')
    .description('show the configuration in use, where it comes from, and whether it works')
    .option('--online', 'also contact model servers that are not on this machine')
    .action(run(runDoctor));
}

export async function runDoctor(
  { online = false }: { readonly online?: boolean },
  context: CliContext,
): Promise<number> {
  const checks: Check[] = [];
  const failures: ParleyError[] = [];
  const check: RunCheck = async (name, find) => {
    let result: Check;
    try {
      const found = await find();
      result = { name, ok: true, ...(typeof found === 'string' ? { finding: found, hint: '' } : found) };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      const { code, message } = error;
      const moreHint = targetHint(error, context).trimEnd();
      result = {
        name,
        ok: false,
        finding: `${message} (${code})`,
        hint: `${nextStep(error)} ${moreHint}`.trim(),
      };
      failures.push(error);
    }
    checks.push(result);
    if (!context.options.json) await writeCheck(result, context);
    return result.ok;
  };

  const { host } = context;
  await check('parley', () => `${host.version} on Node ${host.nodeVersion}`);
  await check('configuration', () => {
    host.profileFile.read();
    const exposed = host.profileFile.exposed(host.dataDirectory);
    if (exposed.length > 0) {
      const { message, remedy } = exposure(exposed);
      throw new ParleyError('CONFIG', message, { hint: remedy });
    }
    return host.profileFile.path;
  });
  const resolved = await check('profile', () => {
    const { profile, sources } = context.resolve('report');
    return profile === null ? 'none, because a URL is given' : `${profile} (${sources.profile})`;
  });
  if (resolved) await checkTarget(context, online, check);
  const [failure] = failures;
  if (context.options.json) await writeReport(checks, failure, context);
  return failure === undefined ? exitDone : exitStatusOf(failure.code);
}

/** Writes all checks, even after a failure, because the checks that pass help to find the cause. */
async function writeReport(
  checks: readonly Check[],
  failure: ParleyError | undefined,
  { stdout }: CliContext,
): Promise<void> {
  const data = { ok: failure === undefined, checks };
  if (failure === undefined) return stdout.write(successLine(data));
  const { code, message } = failure;
  const error = { code, message: `${message} ${nextStep(failure)}`.trim() };
  await stdout.write(`${toJson({ success: false, error, data })}\n`);
}

async function checkTarget(context: CliContext, online: boolean, check: RunCheck): Promise<void> {
  const { host } = context;
  const { url, sources } = context.resolve('report');
  await check('service', () => (url === null ? 'embedded' : `${url} (${sources.url})`));
  await check('key', () => sources.key ?? (url === null ? 'of this store, created on first use' : 'none'));
  const opened = await check('opens', async () => {
    await context.open();
    return 'yes';
  });
  if (!opened) return;
  const { backend } = await context.open();
  const { administration } = backend;
  if (administration !== null) {
    await check('store', async () => {
      const store = await administration.inspectStore();
      if (store.integrity !== 'ok')
        throw new ParleyError('STORE_DAMAGED', `${store.place}: ${store.integrity}.`);
      const { free_bytes } = store;
      if (free_bytes !== null && free_bytes < defaultLimits.messageBytes)
        throw nearlyFull(store.place, free_bytes);
      const storeFacts = store.facts.map(({ name, value }) => `${name} ${value}`);
      const facts = [`schema ${store.schema_version}`, ...storeFacts, `${store.bytes} bytes`];
      return `${store.place} (${facts.join(', ')}), intact`;
    });
  }
  if (url !== null) await checkRoute(context, check);
  await check('access', async () => {
    const startedAt = monotonicMs();
    const { data } = await backend.service.verify(await context.call());
    const time = url === null ? '' : `, in ${Math.round(monotonicMs() - startedAt)} ms`;
    // A third-party server may report other facts about a key, or none.
    return data.project_name === ''
      ? `the key is valid${time}`
      : `project ${data.project_name}, key ${data.key_id}${time}`;
  });
  if (url !== null) {
    await check(
      'offers',
      () => backend.extensions?.join(', ') || 'the basic API: no archive and no streaming known',
    );
  }
  await check('modes', async () => {
    const { data } = await backend.service.models(await context.call());
    const names = data
      .map(({ name, default: isDefault }) => (isDefault ? `${name} (default)` : name))
      .join(', ');
    if (url !== null) return names;
    const { store, storeName } = context.target;
    const place = store === null ? host.profileFile.path : storeName;
    return `${names}; set up in ${place}`;
  });
  if (url === null) await checkModelServers(context, online, check);
}

/** The remaining space may be enough for some turns, but not for a message of the maximum size. */
function nearlyFull(place: string, free_bytes: number): ParleyError {
  return new ParleyError(
    'STORAGE_FULL',
    `The disk of ${place} is almost full: ${counted(free_bytes, 'byte')} free, and one message may need ${defaultLimits.messageBytes}.`,
    { hint: 'Stored sessions are intact. Free some space on that disk.' },
  );
}

const proxyVariables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy'];

/** The network route to a server: proxy and certificates. Only the variable of a proxy is shown, because its URL may contain a password. */
async function checkRoute({ host: { env }, options }: CliContext, check: RunCheck): Promise<void> {
  const proxies = proxyVariables.filter((name) => env[name]);
  await check('proxy', () => (proxies.length === 0 ? 'none' : `from ${proxies.join(', ')}`));
  const files = [
    options.ca !== null && `${options.ca} (--ca)`,
    env['NODE_EXTRA_CA_CERTS'] && `${env['NODE_EXTRA_CA_CERTS']} (NODE_EXTRA_CA_CERTS)`,
  ].filter(Boolean);
  await check('certificates', () => ['the system defaults', ...files].join(', '));
}

const nameWidth = 13;

async function writeCheck({ name, ok, finding, hint }: Check, { stdout }: CliContext): Promise<void> {
  const { green, cyan, red, bold } = await stdout.style();
  const passed = hint === '' ? green('ok  ') : cyan('note');
  const mark = ok ? passed : red('FAIL');
  await stdout.write(terminalText`${mark} ${bold(name.padEnd(nameWidth))} `);
  const columns = ' '.repeat(5 + nameWidth + 1);
  const line = stdout.visible(`${columns}${finding}`);
  // A finding about many modes becomes a list, also in a pipe. The message of a failure is one sentence.
  const isLong = ok && maxColumns(line) > 2 * stdout.columns();
  const list = isLong ? line.replaceAll('; ', `\n${columns}`) : line;
  const shown = await wrappedNotice(list, stdout);
  const remedy = hint === '' ? '' : `${await wrappedNotice(stdout.visible(`     ${hint}`), stdout)}\n`;
  await stdout.write(`${shown.slice(columns.length)}\n${remedy}`);
}
