// Random conversations with the lines of a session, over the embedded service.
import { expect, test } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { projectName, ScriptedEngine } from '../contract/lines-place.ts';
import { playRandomLines } from '../contract/random-lines.ts';
import { newKey, openEmbedded, temporaryDirectory } from '../support/embedded.ts';
import { textsInFiles } from '../support/remaining-texts.ts';
import { runs } from '../support/runs.ts';

test('keep what was acknowledged, and send the visible line, whatever is done with them', async () => {
  const directory = await temporaryDirectory();
  const engine = new ScriptedEngine();
  let store: SessionStore | undefined;
  const backend = await openEmbedded(directory.path, {
    engines: engine.engines,
    owner: { id: 'this', isGone: (owner) => owner === 'gone' },
    around: (opened) => {
      store = opened;
      return opened;
    },
  });
  if (store === undefined) throw new Error('The store was not opened.');
  const textsLeft = (texts: readonly string[]) => textsInFiles(directory.path, texts);
  const place = { backend, engine, store, cutsLater: false, comparedEach: 1, kills: null };
  try {
    await playRandomLines(
      { ...place, textsLeft, newKey: () => newKey(backend, projectName()) },
      runs(4, 400),
      30,
    );
    expect((await backend.administration.inspectStore()).integrity).toBe('ok');
  } finally {
    await backend.close();
    await directory.remove();
  }
});
