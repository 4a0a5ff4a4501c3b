// Ctrl-C during a reply whose received part finds no room on the disk: nothing says that the part is kept.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ReplFixture } from '../cli/repl/repl-fixture.ts';
import { openPacedModel, type PacedModel } from '../support/paced-model.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { lookInto } from '../support/raw-database.ts';
import { SmallDisk } from '../support/small-disk.ts';

const disk = SmallDisk.mount();
const fixture = new ReplFixture();
let model: PacedModel;
let place: PlaceInProcess;

describe.skipIf(disk === null)('a reply that is stopped on a full disk is reported as not kept', () => {
  beforeAll(async () => {
    model = await openPacedModel();
  });
  beforeEach(async () => {
    place = new PlaceInProcess({ data: join(disk?.path ?? '', 'data') });
    await place.output(['modes', 'add', 'slow', '--base-url', model.url, '--model', 'm', '--default']);
  });
  afterEach(() => {
    fixture.close();
    disk?.free();
    place.remove();
  });
  afterAll(async () => {
    await model.close();
    disk?.unmount();
  });

  const isLost = /The message is kept in session \S+; the reply is not\. Free some space, then ask again\./;

  test('by chat', async () => {
    const child = place.start(['chat', '-n', 'Hello']);
    child.stdin.end();
    const ended = outcomeOf(child);
    const reply = await model.next();
    reply.say('One ');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    disk?.fill(0);
    child.kill('SIGINT');
    const { status, err } = await ended;
    expect(status).toBe(7);
    expect(err).toMatch(isLost);
    expect(err).not.toContain('so far is kept');
  });

  test('by the REPL, where /retry sends the message again', async () => {
    const screen = fixture.open(['repl'], { columns: 300 }, place);
    await screen.stands('slow> ');
    screen.type('Hello\r');
    const reply = await model.next();
    reply.say('One two');
    await screen.shows('One');
    disk?.fill(0);
    screen.type('\x03');
    await screen.until('the prompt', () => screen.cursorRow === 'slow (Hello)>');
    expect(screen.text).toMatch(isLost);
    expect(screen.text).not.toContain('is kept]');
    disk?.free();
    // Otherwise the message would wait for the end of the lease of 15 s, because the end of its turn could not be stored.
    lookInto(place.storeFile, (database) => database.exec('UPDATE sessions SET turn_until = 0'));
    screen.type('/retry\r');
    const again = await model.next();
    again.say('Three.');
    again.end();
    await screen.shows('Three.');
  });
});
