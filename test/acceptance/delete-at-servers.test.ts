// Deletions at servers that are busy, fail or lose responses: the pace, the waits, the end, and the counts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openIdServer } from '../support/id-server.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

describe('at a server that is busy', () => {
  test('as many calls run at once as --concurrency says', async () => {
    const { server, env, stdin } = await openIdServer({ count: 300, takes: 5 });
    await place.output(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expect(server.atOnce()).toBe(16);
    const other = await openIdServer({ count: 50, takes: 5 });
    await place.output(['sessions', 'delete', '-', '--yes', '--concurrency', '3'], other);
    expect(other.server.atOnce()).toBe(3);
  });

  test('a refused call is repeated after a wait, and every id is reported once', async () => {
    let refused = 0;
    const { server, env, stdin, ids } = await openIdServer({
      count: 200,
      takes: 10,
      trouble: (count) => (count > 40 && refused++ < 16 ? 'limited' : 'none'),
    });
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expect(outcome.status).toBe(0);
    expect(lines(outcome.out).sort()).toEqual(ids.map((id) => `deleted ${id}`).sort());
    expect([server.active.size, server.deletions()]).toEqual([0, 216]);
  });

  test('no request is sent before the time of Retry-After', async () => {
    const times: number[] = [];
    const { env, stdin } = await openIdServer({
      count: 40,
      before: () => times.push(Date.now()),
      trouble: (count) => (count === 20 ? 'down' : 'none'),
    });
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes', '--concurrency', '1'], {
      env,
      stdin,
    });
    expect(outcome.status).toBe(0);
    expect((times[20] ?? 0) - (times[19] ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  test('a wait of a day ends it with status 6 and the command that resumes it', async () => {
    const { server, env, stdin } = await openIdServer({
      count: 40,
      trouble: (count) => (count > 10 ? 'closed' : 'none'),
    });
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expect(outcome.status).toBe(6);
    expect(outcome.err).toMatch(/Stopped\. To resume: parley sessions delete --resume \S+\n/);
    expect(lines(outcome.out).length).toBe(server.deleted.size);
  }, 120_000);

  test('a server that cannot be reached ends it early, not after every id', async () => {
    const { server, env, stdin } = await openIdServer({ count: 3000 });
    await server.close();
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expect([outcome.status, outcome.out]).toEqual([6, '']);
  });

  test('Ctrl-C stops it within two seconds, although a response is missing, and names the command that resumes it', async () => {
    const { server, env, ids } = await openIdServer({
      count: 200,
      takes: 20,
      trouble: (count) => (count % 10 === 0 ? 'hung' : 'none'),
    });
    const child = place.start(['sessions', 'delete', '-', '--yes'], env);
    child.stdin.end(ids.join('\n'));
    const outcome = outcomeOf(child);
    await expect.poll(() => server.deletions()).toBeGreaterThanOrEqual(60);
    const stopped = performance.now();
    child.kill('SIGINT');
    const { status, out, err } = await outcome;
    expect(performance.now() - stopped).toBeLessThan(6000);
    expect(status).toBe(130);
    const batch = /parley sessions delete --resume (\S+)/.exec(err)?.[1] ?? '';
    expect(
      lines(out)
        .map((line) => line.replace('deleted ', ''))
        .sort(),
    ).toEqual([...server.deleted].sort());
    expect(lines(out).length).toBeGreaterThan(10);
    const before = server.deleted.size;
    const rest = await place.parley(['--timeout', '1', 'sessions', 'delete', '--resume', batch], { env });
    expect(rest.out).toContain('deleted ');
    expect(lines(rest.out).filter((line) => line.startsWith('deleted')).length).toBe(
      server.deleted.size - before,
    );
  }, 60_000);
});

describe('a deletion whose response was lost', () => {
  const lost = (counts: readonly number[]) => (count: number) => (counts.includes(count) ? 'lost' : 'none');

  test('counts as done when the repeated request finds nothing, and is reported separately', async () => {
    // The first does not exist; the second, third and fifth are deleted before their connection is closed.
    const { server, ids, env } = await openIdServer({ count: 5, trouble: lost([2, 4, 7]) });
    const words = ['sessions', 'delete', 'missing', ...ids, '--yes', '--concurrency', '1'];
    const outcome = await place.parley(words, { env });
    expect(outcome.status).toBe(3);
    expect(lines(outcome.out)).toEqual(['not_found missing', ...ids.map((id) => `deleted ${id}`)]);
    expect(outcome.err).toMatch(
      /^5 sessions deleted \(3 of them after a repeated request\), 1 not found\.$/m,
    );
    expect(server.deleted).toEqual(new Set(ids));

    const again = await openIdServer({ count: 5, trouble: lost([1]) });
    const json = await place.parley([...words, '--json'], { env: again.env });
    expect(lines(json.out).map((line) => JSON.parse(line))).toEqual([
      // After the repeated request nobody can know that it never existed.
      { session_id: 'missing', status: 'deleted', repeated: true },
      ...ids.map((id) => ({ session_id: id, status: 'deleted' })),
    ]);
  });

  test('of a single session counts as done, too, and says so', async () => {
    const { env } = await openIdServer({ count: 1, trouble: lost([1]) });
    const outcome = await place.parley(['sessions', 'delete', 'id-0'], { env });
    expect([outcome.status, outcome.out]).toEqual([0, 'deleted id-0\n']);
    expect(outcome.err).toBe(
      'Counted as deleted: the request was repeated, because the response to the first one was lost.\n',
    );
    const other = await openIdServer({ count: 1, trouble: lost([1]) });
    const json = await place.output(['sessions', 'delete', 'id-0', '--json'], { env: other.env });
    expect(JSON.parse(json)).toEqual({ session_id: 'id-0', status: 'deleted', repeated: true });
  });
});
