// The check of `parley doctor` whether the servers of the modes respond. Servers on other machines are contacted only with --online. A server
// that does not respond is not a failure, because it may be started later.
import { isLocalUrl } from '../../../config/base-url.ts';
import type { ModeRecord } from '../../../service/mode-settings.ts';
import type { FoundModels } from '../../../service/model-server.ts';
import type { CliContext } from '../../context.ts';
import { ownModes } from '../modes/own-modes.ts';
import { unsetVariable } from '../modes/unset-variable.ts';
import { isSameServer } from '../setup/model-servers.ts';
import type { RunCheck } from './check.ts';

/** A server and its modes. */
interface ServerOfModes {
  readonly base_url: string;
  readonly key: string | null;
  readonly modes: readonly ModeRecord[];
}

export async function checkModelServers(
  context: CliContext,
  online: boolean,
  check: RunCheck,
): Promise<void> {
  const servers = serversOf((await (await ownModes(context)).read()).list());
  if (servers.length === 0) return;
  await check('model servers', async () => {
    const states = await Promise.all(servers.map((server) => stateOf(server, online, context)));
    const lines = states.map(({ server, finding }) => {
      const names = server.modes.map(({ name }) => name).join(', ');
      return `${new URL(server.base_url).host} ${finding} (${names})`;
    });
    const text =
      lines.join('; ') +
      (states.some(({ isContacted }) => !isContacted) ? '; --online contacts the others' : '');
    const [mode] = states.flatMap(({ server, isUsable }) => (isUsable ? [] : server.modes));
    return {
      finding: text,
      hint: mode === undefined ? '' : `To see the settings of a mode: parley modes show ${mode.name}`,
    };
  });
}

function serversOf(modes: readonly ModeRecord[]): readonly ServerOfModes[] {
  const servers: { base_url: string; key: string | null; modes: ModeRecord[] }[] = [];
  for (const mode of modes) {
    if (mode.settings === null) continue;
    const { base_url, key } = mode.settings;
    const known = servers.find((one) => one.key === key && isSameServer(one.base_url, base_url));
    if (known === undefined) servers.push({ base_url, key, modes: [mode] });
    else known.modes.push(mode);
  }
  return servers;
}

interface ServerState {
  readonly server: ServerOfModes;
  readonly finding: string;
  readonly isContacted: boolean;
  /** False if the server cannot reply now. */
  readonly isUsable: boolean;
}

async function stateOf(server: ServerOfModes, online: boolean, context: CliContext): Promise<ServerState> {
  const { base_url, key } = server;
  const variable = unsetVariable(key, context.host.env);
  if (variable !== null)
    return { server, finding: `has no key: ${variable} is not set`, isContacted: true, isUsable: false };
  if (!online && !isLocalUrl(base_url))
    return { server, finding: 'was not contacted', isContacted: false, isUsable: true };
  const modelServer = { name: new URL(base_url).host, base_url, key };
  const [found] = await context.host.findModels([modelServer], context.engineOptions, context.signal);
  return { server, isContacted: true, ...assess(found) };
}

/** A server that responds without a list of models may still be able to chat. */
function assess(found: FoundModels | undefined): Pick<ServerState, 'finding' | 'isUsable'> {
  if (found === undefined || (found.models.length === 0 && found.problem === null))
    return { finding: 'does not respond: nothing is listening there', isUsable: false };
  const { problem } = found;
  if (problem === null) return { finding: 'responds', isUsable: true };
  return { finding: problem, isUsable: problem.startsWith('lists no models') };
}
