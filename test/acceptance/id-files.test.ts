// Files of ids, valid and invalid in every way: nothing is deleted unless the whole file is valid. scripts/id-file-fuzz.js tries more files.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openBasicServer } from '../support/basic-server.ts';
import { fuzzIdFiles } from '../support/id-file-fuzz.ts';
import { idFiles } from '../support/id-files.ts';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { runs } from '../support/runs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const count = runs(70, 200);

test(`each of ${count} files deletes its sessions if it is valid; otherwise nothing is deleted and the wrong line is named`, async () => {
  const { files, valid, refused, deleted } = await fuzzIdFiles(temporaryDirectory(), count);
  expect(files).toBe(count);
  // The test proves nothing if one of the two kinds is rare.
  expect(Math.min(valid, refused)).toBeGreaterThan(count / 10);
  expect(deleted).toBeGreaterThan(count / 10);
}, 60_000);

test('the real program does the same, with a file and at a server', async () => {
  const place = removeAfterTest(new Place());
  const known = ['id-1', 'id-2', 'id-3'];
  const server = await openBasicServer({ ids: known });
  onTestFinished(() => server.close());
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' };
  const path = join(place.path, 'ids');
  for (const { bytes, ids } of fc.sample(idFiles(known), 12)) {
    for (const id of server.deleted) server.active.add(id);
    server.deleted.clear();
    writeFileSync(path, bytes);
    const { status, err } = await place.shell('parley sessions delete - --yes --ignore-missing < ids', env);
    expect({ text: bytes.toString(), status, err }).toMatchObject({ status: ids === null ? 2 : 0 });
    expect([...server.deleted].sort()).toEqual(known.filter((id) => ids?.includes(id)));
  }
}, 60_000);
