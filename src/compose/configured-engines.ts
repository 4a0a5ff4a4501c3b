// The engines of the embedded service: the built-in ones, and those of the modes that somebody has set up. Where none is set up,
// nothing of the latter is loaded.
import type { StoredConfig } from '../config/stored-config.ts';
import type { EngineSet } from '../engine/engine-set.ts';
import { offlineEngines } from '../engine/offline/offline-engine-set.ts';
import type { UpstreamOptions } from '../engine/upstream/upstream-options.ts';
import type { BackendOptions } from '../service/backend-opening.ts';
import type { ModeConfig } from '../service/mode-settings.ts';
import type { FoundModels, ModelServer } from '../service/model-server.ts';
import type { Surroundings } from './surroundings.ts';

export type EngineChoice = Pick<BackendOptions, 'timeout' | 'authorityFile' | 'trace'>;

/** `modes` are those that were set up; null where none was. */
export async function configuredEngines(
  surroundings: Surroundings,
  choice: EngineChoice,
  modes: ModeConfig | null,
): Promise<EngineSet> {
  const offline = offlineEngines();
  if (modes === null) return offline;
  const { withUpstreamModes } = await import('../engine/upstream/upstream-engine-set.ts');
  return withUpstreamModes(offline, modes, upstreamOptions(surroundings, choice));
}

/** Asks model servers which models they have. Contacts these and no other; never rejects for what a server does. */
export async function findModelsOf(
  surroundings: Surroundings,
  choice: EngineChoice,
  servers: readonly ModelServer[],
  signal: AbortSignal,
): Promise<readonly FoundModels[]> {
  const { findModels } = await import('../engine/upstream/model-finder.ts');
  const options = upstreamOptions(surroundings, choice);
  return Promise.all(servers.map((server) => findModels(server, options, signal)));
}

function upstreamOptions({ env, now }: Surroundings, choice: EngineChoice): UpstreamOptions {
  const { timeout, authorityFile, trace } = choice;
  return {
    proxies: env,
    authorities: async () => {
      if (authorityFile === null) return null;
      const { readAuthorities } = await import('../remote/authorities.ts');
      return readAuthorities(authorityFile, env);
    },
    readKey: async (reference, mode, signal) => {
      const { readKeyReference } = await import('../config/key-reference.ts');
      return readKeyReference(reference, mode, env, signal);
    },
    timeout,
    now,
    trace:
      trace &&
      (async (request, origin, { key, reference }) => {
        const { curlCommand } = await import('../remote/curl.ts');
        const { keyInShell } = await import('../config/key-reference.ts');
        await trace(curlCommand(request, origin, key, authorityFile, keyInShell(reference)));
      }),
  };
}

/** A set whose modes can be exchanged while it is used: replies that run go on with the engine that they began with, to their end. */
export function exchangeableEngines(first: EngineSet): {
  readonly engines: EngineSet;
  readonly exchange: (next: EngineSet) => Promise<void>;
} {
  let current = first;
  return {
    engines: {
      get modes() {
        return current.modes;
      },
      engine: (mode) => current.engine(mode),
      close: async () => current.close?.(),
    },
    async exchange(next) {
      const before = current;
      current = next;
      await before.retire?.();
    },
  };
}

/** The modes of the user's own configuration, whose file `path` is; null where none was set up. */
export async function storedModes(config: StoredConfig, path: string): Promise<ModeConfig | null> {
  if (Object.keys(config.modes).length === 0 && config.default_mode === null) return null;
  const { storedModeConfig } = await import('../config/stored-modes.ts');
  return storedModeConfig(config, path);
}
