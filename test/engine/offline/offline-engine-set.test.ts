// The modes that need no model.
import { describe, expect, test } from 'vitest';
import { offlineEngines } from '../../../src/engine/offline/offline-engine-set.ts';

describe('the offline engines', () => {
  const engines = offlineEngines();

  test('there are two modes, and eliza is the default', () => {
    expect(engines.modes.map(({ name, default: isDefault }) => [name, isDefault])).toEqual([
      ['eliza', true],
      ['echo', false],
    ]);
  });

  test('each mode has the engine that it names, no model, and says so', () => {
    for (const mode of engines.modes) {
      expect(engines.engine(mode.name)?.name).toBe(mode.engine);
      expect(mode.model).toBeNull();
      expect(mode.description).toContain('no model');
    }
  });

  test('a missing mode has no engine', () => {
    expect(engines.engine('gpt')).toBeNull();
    expect(engines.engine('constructor')).toBeNull();
    expect(engines.engine('')).toBeNull();
  });
});
