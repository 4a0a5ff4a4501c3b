// The modes that were set up, beside those that need no setting up.
import type { Mode } from '../../service/mode.ts';
import type { ModeBook } from '../../service/mode-settings.ts';
import type { EngineSet } from '../engine-set.ts';
import { UpstreamEngine } from './upstream-engine.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export function withUpstreamModes(offline: EngineSet, book: ModeBook, options: UpstreamOptions): EngineSet {
  const engines = new Map(book.modes.map((mode) => [mode.name, new UpstreamEngine(mode, options)]));
  const upstream = book.modes.map(
    ({ name, description, engine, model }): Mode => ({ name, description, engine, model, default: false }),
  );
  const modes = [...upstream, ...offline.modes];
  const chosen = modes.some(({ name }) => name === book.default) ? book.default : null;
  return {
    modes: chosen === null ? modes : modes.map((mode) => ({ ...mode, default: mode.name === chosen })),
    engine: (name) => engines.get(name) ?? offline.engine(name),
    async close() {
      await Promise.all(Array.from(engines.values(), (engine) => engine.close()));
    },
    async retire() {
      await Promise.all(Array.from(engines.values(), (engine) => engine.retire()));
    },
  };
}
