// Chooses where a target's service lives: in this process, or at a server. Each of the two is loaded only when it is chosen.
import type { Surroundings } from './compose/surroundings.ts';
import type { ProfileFile } from './config/profile-file.ts';
import type { Target } from './config/settings.ts';
import type {
  HomeOptions,
  ModelSearch,
  OpenedHome,
  ServedHome,
  ServeOptions,
} from './service/home-opening.ts';
import type { FoundModels, ModelServer } from './service/model-server.ts';
import type { LoadLocks } from './system/file-lock.ts';

/** Opens the home of a target, and resolves the key to call it with. */
export async function openHome(
  target: Target,
  surroundings: Surroundings,
  options: HomeOptions,
): Promise<OpenedHome> {
  await warnOfExposure(surroundings.profileFile, options);
  if (target.url === null) {
    const { openEmbeddedHome } = await import('./compose/embedded-home.ts');
    return openEmbeddedHome(target, surroundings, options);
  }
  const { openRemoteHome } = await import('./remote/remote-home.ts');
  const { env, now, random } = surroundings;
  const home = await openRemoteHome({
    url: target.url,
    replyPointer: target.replyPointer,
    extensions: target.extensions,
    env,
    authorityFile: options.authorityFile,
    timeout: options.timeout,
    trace: options.trace,
    now,
    random,
    newIdempotencyKey: () =>
      [now(), random(), random()].map((part) => part.toString(36).slice(-10)).join('-'),
    wait: async (ms, signal) => {
      const { setTimeout: delay } = await import('node:timers/promises');
      await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  });
  return { home, apiKey: target.key ?? '' };
}

/** Asks model servers which models they have. */
export async function findModels(
  servers: readonly ModelServer[],
  surroundings: Surroundings,
  options: ModelSearch,
  signal: AbortSignal,
): Promise<readonly FoundModels[]> {
  const { findModelsOf } = await import('./compose/configured-engines.ts');
  return findModelsOf(surroundings, options, servers, signal);
}

async function warnOfExposure(profileFile: ProfileFile, { say }: Pick<HomeOptions, 'say'>): Promise<void> {
  const exposed = profileFile.exposed();
  if (exposed.length === 0) return;
  const { exposure } = await import('./config/exposed-files.ts');
  const { message, remedy } = exposure(exposed);
  await say(`Warning: ${message} ${remedy}`);
}

/** Opens the embedded service for a server: whoever calls that brings a key, so none is made here. */
export async function openServedHome(surroundings: Surroundings, options: ServeOptions): Promise<ServedHome> {
  await warnOfExposure(surroundings.profileFile, options);
  const { openServedHome: open } = await import('./compose/embedded-home.ts');
  return open(surroundings, options);
}

/** Locks between the processes of this machine. */
export function fileLocks(nodeApiVersion: number): LoadLocks {
  return async () => {
    const { lockFiles } = await import('./store/sqlite/lock-file.ts');
    return lockFiles(nodeApiVersion);
  };
}
