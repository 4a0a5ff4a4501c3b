// The modes that a user has set up, with the offline modes.
import { allModes, faultyModes, type ModeConfig } from '../../service/mode-settings.ts';
import type { EngineSet } from '../engine-set.ts';
import { UpstreamEngine } from './upstream-engine.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export function withUpstreamModes(
  offline: EngineSet,
  modeConfig: ModeConfig,
  options: UpstreamOptions,
): EngineSet {
  const engines = new Map(modeConfig.modes.map((mode) => [mode.name, new UpstreamEngine(mode, options)]));
  const faulty = faultyModes(modeConfig);
  return {
    modes: allModes(modeConfig),
    engine(name) {
      const fault = faulty.find((mode) => mode.name === name);
      if (fault !== undefined) throw fault.failure;
      return engines.get(name) ?? offline.engine(name);
    },
    async close() {
      await Promise.all(Array.from(engines.values(), (engine) => engine.close()));
    },
    async retire() {
      await Promise.all(Array.from(engines.values(), (engine) => engine.retire()));
    },
  };
}
