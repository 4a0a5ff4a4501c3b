// Modes, keys, sessions and pages in bodies of many shapes.
import { describe, expect, it } from 'vitest';
import { noOrdering } from '../../src/service/session.ts';
import { batchOf, messagePageOf, searchPageOf, sessionPageOf } from '../../src/wire/archive-response.ts';
import { modesOf } from '../../src/wire/mode-list.ts';
import { deletedSessionOf, identityOf, newSessionOf, sessionOf } from '../../src/wire/session-response.ts';

const unknownMode = { description: '', engine: '', model: null, default: false };

describe('modes', () => {
  const entries = ['echo', { name: 'eliza' }, { id: 'gpt' }, { mode: 'calm' }];
  const expected = ['echo', 'eliza', 'gpt', 'calm'].map((name) => ({ name, ...unknownMode }));

  it.each([
    ['data', { data: entries }],
    ['data.models', { data: { models: entries } }],
    ['data.modes', { data: { modes: entries } }],
    ['models', { models: entries }],
    ['modes', { modes: entries }],
    ['the first of several', { data: { models: entries, modes: ['other'] }, models: ['other'] }],
  ])('are read from %s', (_, body) => {
    expect(modesOf({ success: true, ...body })).toEqual(expected);
  });

  it('have all facts of this service', () => {
    const mode = { name: 'm', description: 'd', engine: 'e', model: 'x', default: true };
    expect(modesOf({ success: true, data: [mode] })).toEqual([mode]);
  });

  it('without a name are skipped', () => {
    expect(modesOf({ data: [{ title: 'x' }, null, 7, '', 'echo'] })?.map(({ name }) => name)).toEqual([
      'echo',
    ]);
  });

  it('may be an empty list', () => {
    expect(modesOf({ success: true, data: [] })).toEqual([]);
  });

  it.each([{}, { data: 'echo' }, { data: { list: ['echo'] } }, { data: [1, {}] }])(
    'are not in %j',
    (body) => {
      expect(modesOf(body)).toBeNull();
    },
  );
});

describe('a key', () => {
  it('resolves to the facts of the server, nested or at the top', () => {
    const facts = { project: { id: 'p', plan: { name: 'x' } }, scopes: ['chat'] };
    expect(identityOf({ success: true, data: facts })).toMatchObject(facts);
    expect(identityOf({ success: true, ...facts })).toMatchObject(facts);
  });

  it('is empty if the server does not send it', () => {
    const untold = { project_id: '', project_name: '', key_id: '', key_name: '', created_at: '' };
    expect(identityOf({ success: true })).toEqual(untold);
    expect(identityOf({ data: { key_id: 'k' } })).toEqual({ ...untold, key_id: 'k' });
  });
});

/** The settings of a session if the server sends none. */
const unset = {
  ...{ mode: null, system: null, parameters: {}, parent_id: null, forked_at: null, user: null },
  ...noOrdering,
};

describe('a session', () => {
  const fields = { session_id: 's', title: 'T', created_at: '2026-01-01T00:00:00.000Z', message_count: 0 };

  it.each([
    ['data', { data: fields }],
    ['data.session', { data: { session: fields } }],
    ['the top', fields],
  ])('is read from %s', (_, body) => {
    expect(newSessionOf({ success: true, ...body })).toEqual(fields);
    expect(sessionOf({ success: true, ...body }, 's')).toEqual({ ...fields, ...unset });
  });

  it('may have its id under id, and keeps all other fields', () => {
    expect(newSessionOf({ data: { id: 's', owner: 'me' } })).toEqual({
      id: 's',
      owner: 'me',
      session_id: 's',
      title: null,
      created_at: '',
      message_count: 0,
    });
  });

  it('without an id is no new session', () => {
    expect(newSessionOf({ success: true, data: { title: 'T' } })).toBeNull();
    expect(newSessionOf({ success: true })).toBeNull();
  });

  it('without an id is the requested one, and no field is invented but the settings', () => {
    expect(sessionOf({ success: true, data: { title: 'T' } }, 'asked')).toEqual({
      session_id: 'asked',
      title: 'T',
      ...unset,
    });
    expect(sessionOf({ success: true }, 'asked')).toBeNull();
  });

  it('keeps the settings of a server, and ignores those of another shape', () => {
    const settings = {
      mode: 'm',
      system: 's',
      parameters: { seed: 1 },
      parent_id: 'p',
      forked_at: 0,
      pinned: true,
      archived: true,
      tags: ['a'],
      user: 'u',
    };
    expect(sessionOf({ data: { ...fields, ...settings } }, 's')).toEqual({ ...fields, ...settings });
    const odd = {
      mode: {},
      system: [],
      parameters: 'x',
      parent_id: 7,
      forked_at: '1',
      pinned: 1,
      archived: 'yes',
      tags: 'a',
      user: 7,
    };
    expect(sessionOf({ data: { ...fields, ...odd } }, 's')).toEqual({ ...fields, ...unset });
  });

  it('is deleted with or without a time', () => {
    expect(deletedSessionOf({ data: { deleted_at: 'now' } }, 's')).toEqual({
      session_id: 's',
      deleted_at: 'now',
    });
    expect(deletedSessionOf(null, 's')).toEqual({ session_id: 's', deleted_at: '' });
  });

  it.each([{ data: { session_id: 'other' } }, { data: { session: { id: 'other' } } }, { id: 'other' }])(
    'is not taken for another that an answer has: %j',
    (body) => {
      for (const read of [sessionOf, deletedSessionOf]) {
        expect(() => read({ success: true, ...body }, 's')).toThrow(
          expect.objectContaining({ code: 'BAD_RESPONSE', message: expect.stringContaining('"other"') }),
        );
        expect(read({ success: true, ...body }, 'OTHER')).toBeTruthy();
      }
    },
  );
});

describe('the archive', () => {
  const time = '2026-01-01T00:00:00.000Z';
  const session = { session_id: 's', title: null, created_at: time, updated_at: time, message_count: 2 };
  const message = {
    ...{ message_id: 'm', position: 0, role: 'user', content: '', mode: 'echo' },
    ...{ finish_reason: null, usage: null, created_at: time },
  };
  const hit = { message_id: 'm', role: 'user', created_at: time, snippet: 'a' };
  const found = { session, score: 1, hits: [hit] };

  /** Each of its fields with another type, and left out, except where null is allowed. */
  const wrongOf = (record: object): readonly object[] =>
    Object.entries(record).flatMap(([name, value]) => [
      { ...record, [name]: [] },
      ...(name === 'usage' ? [] : [{ ...record, [name]: { a: 1 } }]),
      ...(value === null ? [] : [{ ...record, [name]: undefined }]),
    ]);

  it('returns pages of sessions and of messages, even with unknown fields', () => {
    const items = [{ ...session, owner: 'me' }];
    expect(sessionPageOf({ data: { items, next_cursor: 'c' } })).toEqual({
      items: [{ ...items[0], ...unset }],
      next_cursor: 'c',
    });
    expect(messagePageOf({ data: { items: [message] } })).toEqual({ items: [message], next_cursor: null });
    expect(sessionPageOf({ data: { items: [] } })).toEqual({ items: [], next_cursor: null });
  });

  it.each([{}, { data: [] }, { data: { items: ['a'] } }, { data: { items: {} } }, { data: { items: [[]] } }])(
    'has no page in %j',
    (body) => {
      expect(sessionPageOf(body)).toBeNull();
      expect(messagePageOf(body)).toBeNull();
      expect(searchPageOf(body)).toBeNull();
    },
  );

  it('returns no page if a record lacks a field, or has one of another type', () => {
    for (const wrong of wrongOf(session)) {
      expect(sessionPageOf({ data: { items: [session, wrong] } }), JSON.stringify(wrong)).toBeNull();
      expect(searchPageOf({ data: { items: [{ ...found, session: wrong }] } })).toBeNull();
    }
    for (const wrong of wrongOf(message))
      expect(messagePageOf({ data: { items: [message, wrong] } }), JSON.stringify(wrong)).toBeNull();
    for (const wrong of wrongOf(hit))
      expect(searchPageOf({ data: { items: [{ ...found, hits: [hit, wrong] }] } })).toBeNull();
    expect(sessionPageOf({ data: { items: [session], next_cursor: 7 } })).toBeNull();
  });

  it('returns sessions and their hits for a search, and shows if only the newest were ranked', () => {
    const page = { items: [{ ...found, session: { ...session, ...unset } }], next_cursor: null };
    expect(searchPageOf({ data: { items: [found], next_cursor: '', newest_only: true } })).toEqual({
      ...page,
      newest_only: true,
    });
    expect(searchPageOf({ data: { items: [found] } })).toEqual({ ...page, newest_only: false });
  });

  it('returns a result for each id of a batch, in order', () => {
    const items = [
      { session_id: 'a', status: 'deleted' },
      { session_id: 'b', status: 'not_found' },
    ];
    expect(batchOf({ data: { items } }, ['a', 'b'], 'deleted')).toEqual({ items });
    for (const ids of [['b', 'a'], ['a'], ['a', 'b', 'c']])
      expect(batchOf({ data: { items } }, ids, 'deleted')).toBeNull();
    expect(batchOf({ data: { items } }, ['a', 'b'], 'restored')).toBeNull();
    expect(batchOf({ data: { items: [{ session_id: 'a', status: 7 }] } }, ['a'], 'deleted')).toBeNull();
  });
});
