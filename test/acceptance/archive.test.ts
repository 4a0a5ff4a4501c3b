// Searches, listings and messages on the command line, embedded and served.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { echoSession } from '../support/echo-session.ts';
import { expectFailure, expectJsonFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const lines = (text: string) => text.split('\n').slice(0, -1);

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

const talk = (...messages: readonly string[]) => echoSession(place, messages);

describe('sessions search', () => {
  test('in a pipe prints a line per session: id, score, time, role, snippet, title', async () => {
    const id = await talk('the quick\nbrown fox');
    await talk('a lazy dog');
    const { status, out, err } = await place.parley(['sessions', 'search', 'FOX']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const [line = '', ...more] = lines(out);
    expect(more).toEqual([]);
    const [session, score, time, role, snippet, title] = line.split('\t');
    expect({ session, snippet, title }).toEqual({ session: id, snippet: 'the quick brown ⟦fox⟧', title: '' });
    expect(Number(score)).toBeGreaterThan(0);
    expect(time).toMatch(/^\d{4}-.*Z$/);
    expect(role).toMatch(/^(user|assistant)$/);
  });

  test('on a terminal shows hits in colour, the age, and the command that continues a session', async () => {
    const id = await talk('the quick brown fox\u001b[2J');
    const { out } = await place.terminal('parley sessions search --profile local fox');
    expect(out).toContain(`parley chat --profile local -s ${id} "…"`);
    expect(out).toContain('now:');
    expect(out).toContain('brown \u001b[1m\u001b[32mfox');
    expect(out).toContain('\\x1b[2J');
    expect(out).not.toContain('⟦');
    const plain = await place.terminal('parley sessions search fox --no-color');
    expect(plain.out).toContain('brown ⟦fox⟧');
  });

  test('on a terminal breaks a long hit between words', async () => {
    await talk(`the ${'quicksilver '.repeat(9)}badger`);
    const { out } = await place.terminal('stty cols 40; PAGER=cat parley sessions search badger --no-color');
    expect(out).toMatch(/^ {2}\w+, now: …?quicksilver\r?\n {4}quicksilver quicksilver ⟦badger⟧\r?$/m);
  });

  test('says when nothing is found, and names the command for the next page', async () => {
    for (const text of ["fox o'one", "fox o'two"]) await talk(text);
    expect(await place.parley(['sessions', 'search', 'zebra'])).toMatchObject({
      ...{ status: 0, out: '', err: 'No session matches.\n' },
    });
    expect((await place.parley(['sessions', 'search', 'zebra', '--json'])).err).toBe('');
    const first = await place.parley(['sessions', 'search', '--limit', '1', "fox o'*"]);
    const command = /continue with: (parley .*)\n/.exec(first.err)?.[1] ?? '';
    const second = await place.shell(command);
    expect({ status: second.status, err: second.err }).toEqual({ status: 0, err: '' });
    expect(new Set([first.out, second.out].map((out) => out.split('\t')[0])).size).toBe(2);
  });

  test('a list with --limit names only a next page, because it refuses --all', async () => {
    for (const text of ["cat o'one", "cat o'two"]) await talk(text);
    const { err } = await place.parley(['sessions', 'list', '--limit', '1']);
    expect(err).toMatch(
      /^There are more results: continue with: parley sessions list --limit 1 --cursor \S+\n$/,
    );
    expect((await place.parley(['sessions', 'list', '--limit', '1', '--all'])).status).toBe(2);
  });

  test('refuses a query without a word, in words and as JSON', async () => {
    expectFailure(await place.parley(['sessions', 'search', '++']), { status: 2, code: 'INVALID_REQUEST' });
    const outcome = await place.parley(['sessions', 'search', 'fox "dog', '--json']);
    const error = expectJsonFailure(outcome, { status: 2, code: 'INVALID_REQUEST' });
    expect(error.message).toContain('quotation mark');
  });
});

describe('sessions list', () => {
  test('--ids --json prints an object per line with only the id, which delete reads', async () => {
    const ids = [await talk('a'), await talk('b')];
    const { out } = await place.parley(['sessions', 'list', '--ids', '--json']);
    expect(lines(out).map((line) => JSON.parse(line))).toEqual(
      ids.toReversed().map((session_id) => ({ session_id })),
    );
    expect((await place.parley(['sessions', 'delete', '-', '--yes'], { stdin: out })).status).toBe(0);
  });

  test('--all and --limit together are refused', async () => {
    const outcome = await place.parley(['sessions', 'list', '--all', '--limit', '3']);
    expectFailure(outcome, { status: 2, code: 'USAGE' });
  });

  test('the hint of the next page keeps every filter', async () => {
    for (const title of ["it's one", "it's two", 'other', "it's three"]) {
      await place.output(['sessions', 'create', '--title', title]);
    }
    const seen: string[] = [];
    let command = `parley sessions list --limit 1 --title-match "it's*" --newer-than 1h`;
    for (let page = 0; command !== '' && page < 9; page++) {
      const { out, err } = await place.shell(command);
      seen.push(out.trimEnd().split('\t')[3] ?? '');
      command = /continue with: (parley .*)\n/.exec(err)?.[1] ?? '';
    }
    expect(seen).toEqual(["it's three", "it's two", "it's one"]);
  });

  test('--older-than and --newer-than take ages and dates', async () => {
    const id = await talk('a');
    const list = (...flags: readonly string[]) => place.output(['sessions', 'list', '--ids', ...flags]);
    expect(await list('--older-than', '1h')).toBe('');
    expect(await list('--older-than', '2999-01-01')).toBe(`${id}\n`);
    expect(await list('--newer-than', '30d')).toBe(`${id}\n`);
    expect(await list('--newer-than', '2999-01-01')).toBe('');
    const wrong = await place.parley(['sessions', 'list', '--older-than', 'yesterday']);
    expectFailure(wrong, { status: 2, code: 'USAGE' });
  });
});

describe('sessions messages', () => {
  test('--format json prints a message per line', async () => {
    const id = await talk('one', 'two');
    const messages = lines(await place.output(['sessions', 'messages', id, '--format', 'json']));
    expect(messages.map((line) => JSON.parse(line).content)).toEqual(['one', 'one', 'two', 'two']);
  });

  test('--format applies beside --json and --jq, or is refused', async () => {
    const id = await talk('one', 'two');
    const words = ['sessions', 'messages', id, '--format'];
    expect(await place.output([...words, 'json', '--jq', '.content'])).toBe('one\none\ntwo\ntwo\n');
    expect(await place.output([...words, 'json', '--json'])).toBe(await place.output([...words, 'json']));
    const refused = await place.parley([...words, 'md', '--json']);
    expectJsonFailure(refused, { status: 2, code: 'USAGE' });
  });
});
