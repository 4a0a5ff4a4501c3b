// The engines of the embedded service: those of the offline modes, and those of the modes that the user has set up. The code for the latter
// is loaded only if such a mode exists.
import type { EngineSet } from '../engine/engine-set.ts';
import { offlineEngines } from '../engine/offline/offline-engine-set.ts';
import type { UpstreamOptions } from '../engine/upstream/upstream-options.ts';
import type { EngineOptions } from '../service/backend-opening.ts';
import type { ModeConfig, ModeSettings } from '../service/mode-settings.ts';
import type { ContextSize, FoundModels, ModelServer } from '../service/model-server.ts';
import type { Dependencies } from './dependencies.ts';

/** `modes`: the modes that the user has set up; null if there are none. */
export async function configuredEngines(
  dependencies: Dependencies,
  options: EngineOptions,
  modes: ModeConfig | null,
): Promise<EngineSet> {
  const offline = offlineEngines();
  if (modes === null) return offline;
  const { withUpstreamModes } = await import('../engine/upstream/upstream-engine-set.ts');
  return withUpstreamModes(offline, modes, upstreamOptions(dependencies, options));
}

/**
 * Asks model servers for their models. It contacts no other server. A faulty server is part of the result. Rejects with `CONFIG` for a file of
 * authorities that cannot be used.
 */
export async function findModelsOf(
  dependencies: Dependencies,
  options: EngineOptions,
  servers: readonly ModelServer[],
  signal: AbortSignal,
): Promise<readonly FoundModels[]> {
  const { findModels } = await import('../engine/upstream/model-finder.ts');
  await dependencies.readAuthorities(options.authorityFile);
  const upstream = upstreamOptions(dependencies, options);
  return Promise.all(servers.map((server) => findModels(server, upstream, signal)));
}

/** Asks the server of a mode how many tokens of a conversation its model reads. Null if it does not report that. */
export async function findContextOf(
  dependencies: Dependencies,
  options: EngineOptions,
  mode: ModeSettings,
  signal: AbortSignal,
): Promise<ContextSize | null> {
  const { findContext } = await import('../engine/upstream/context-finder.ts');
  return findContext(mode, upstreamOptions(dependencies, options), signal);
}

function upstreamOptions(dependencies: Dependencies, options: EngineOptions): UpstreamOptions {
  const { env, now, readAuthorities } = dependencies;
  const { timeout, authorityFile, trace } = options;
  return {
    proxies: env,
    authorities: () => readAuthorities(authorityFile),
    readKey: async (reference, mode, signal) => {
      const { maxCommandMs, readKeyReference } = await import('../config/key-reference.ts');
      const commandMs = timeout === null ? maxCommandMs : Math.min(timeout * 1000, maxCommandMs);
      return readKeyReference(reference, mode, env, signal, commandMs);
    },
    timeout,
    now,
    trace:
      trace &&
      (async (request, origin, { key, reference }) => {
        const { curlCommand } = await import('../remote/curl-command.ts');
        const { keyInShell } = await import('../config/key-reference.ts');
        await trace(curlCommand(request, origin, key, authorityFile, keyInShell(reference)));
      }),
  };
}

/** A set of engines that can be replaced while it is used. A running reply continues with the engine that it began with. */
export function replaceableEngines(first: EngineSet): {
  readonly engines: EngineSet;
  readonly replace: (next: EngineSet) => Promise<void>;
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
    async replace(next) {
      const before = current;
      current = next;
      await before.retire?.();
    },
  };
}
