// A batch of sessions at a terminal shows a bar, then the failures, then a summary. `--verbose` shows a line for each id.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { makeSessions } from '../support/stored.ts';

test('a deletion at a terminal shows the ids that were not deleted, and how to undo the rest', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['models']);
  const ids = await makeSessions(place, 40, 'x');
  const missing = Array.from({ length: 22 }, (_, number) => `ses_missing_${number}`);
  writeFileSync(join(place.path, 'ids'), [...missing, ...ids].join('\n'));
  const screen = place.lineScreen('parley sessions delete - --yes < ids', { rows: 60 });
  const { status } = await screen.ended;
  const text = screen.bytes;
  expect(status).toBe(3);
  expect(text.match(/not_found ses_missing_/g)).toHaveLength(20);
  expect(text).toContain('… and 2 more; --verbose shows all.');
  expect(text).not.toContain('deleted ses_');
  expect(text).toContain('40 sessions deleted, 22 not found.');
  const again = place.lineScreen('parley sessions restore - --verbose < ids', { rows: 80 });
  await again.ended;
  expect(again.bytes.match(/^restored ses_/gm)).toHaveLength(40);
});

test('an import at a terminal shows the first sessions that failed, and how many more', async () => {
  const place = removeAfterTest(new Place());
  const lines = Array.from({ length: 23 }, (_, number) =>
    JSON.stringify({ session: { session_id: `ses_${number}`, title: 5 }, messages: [] }),
  );
  writeFileSync(join(place.path, 'in.jsonl'), lines.join('\n'));
  const screen = place.lineScreen('parley sessions import in.jsonl', { rows: 120 });
  expect((await screen.ended).status).toBe(3);
  expect(screen.bytes.match(/failed ses_/g)).toHaveLength(20);
  expect(screen.bytes.match(/^At /gm)).toHaveLength(20);
  expect(screen.bytes).toContain('… and 3 more; --verbose shows all.');
  expect(screen.bytes).toContain('0 sessions imported, 23 failed.');
});
