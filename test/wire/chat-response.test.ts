// The places in which the reply and the session of a chat response are searched.
import { describe, expect, it } from 'vitest';
import { chatReply, replyOf, sessionIdOf } from '../../src/wire/chat-response.ts';
import { readPointer } from '../../src/wire/json-pointer.ts';

const names = ['reply', 'response', 'answer', 'message', 'content', 'text', 'output'];
const forms: readonly [string, (text: string) => unknown][] = [
  ['a text', (text) => text],
  ['an object with content', (content) => ({ role: 'assistant', content })],
  ['an object with text', (text) => ({ text })],
];

describe('the reply', () => {
  it.each(names.flatMap((name) => forms.map(([form, wrap]) => [name, form, wrap] as const)))(
    'is found in %s as %s, in data and at the top',
    (name, _form, wrap) => {
      expect(replyOf({ success: true, data: { [name]: wrap('Hello') } }, null)).toBe('Hello');
      expect(replyOf({ success: true, [name]: wrap('Hello') }, null)).toBe('Hello');
    },
  );

  it('is the first known name, in data before the top level', () => {
    const data = Object.fromEntries(names.map((name) => [name, `data ${name}`]));
    const top = Object.fromEntries(names.map((name) => [name, `top ${name}`]));
    for (const name of names) {
      expect(replyOf({ success: true, data, ...top }, null)).toBe(`data ${name}`);
      delete data[name];
    }
    for (const name of names) {
      expect(replyOf({ success: true, data, ...top }, null)).toBe(`top ${name}`);
      delete top[name];
    }
    expect(replyOf({ success: true, data, ...top }, null)).toBeNull();
  });

  it('may be data itself', () => {
    expect(replyOf({ success: true, data: 'Hello' }, null)).toBe('Hello');
  });

  it.each([
    {},
    { reply: '' },
    { reply: 7 },
    { reply: null },
    { reply: ['Hello'] },
    { reply: { content: '' } },
  ])('is not in %j', (data) => {
    expect(replyOf({ success: true, data }, null)).toBeNull();
  });

  it('is read only from the place of the pointer', () => {
    const body = { success: true, data: { reply: 'guess', choices: [{ text: { body: 'Hello' } }] } };
    expect(replyOf(body, readPointer('/data/choices/0/text/body'))).toBe('Hello');
    expect(replyOf(body, readPointer('/data/choices/1/text/body'))).toBeNull();
  });

  it('is not read from inherited properties', () => {
    const body = JSON.parse('{"success":true,"data":{"__proto__":{"reply":"odd"}}}');
    expect(replyOf(body, null)).toBeNull();
  });
});

describe('the session', () => {
  it.each([
    [{ data: { session_id: 'a', session: { session_id: 'c' } }, session_id: 'b' }, 'a'],
    [{ data: { session: { session_id: 'c' } }, session_id: 'b' }, 'b'],
    [{ data: { session: { session_id: 'c', id: 'd' } } }, 'c'],
    [{ data: { session: { id: 'd' } } }, 'd'],
    [{ data: { session_id: 7 } }, null],
    [{ data: { session_id: '' } }, null],
    [{ data: 'text' }, null],
    [null, null],
  ])('of %j is %j', (body, expected) => {
    expect(sessionIdOf(body)).toBe(expected);
  });
});

describe('a reply read', () => {
  const certain = { session_id: 's', mode: 'asked', reply: 'Hello' };

  it('has all facts of this service', () => {
    const data = {
      session_id: 's',
      message_id: 'm',
      mode: 'echo',
      reply: 'Hello',
      finish_reason: 'length' as const,
      created_at: '2026-01-01T00:00:00.000Z',
      message_count: 2,
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    expect(chatReply(certain, { success: true, data })).toEqual({ ...data, turns_left_out: 0 });
    const short = { ...data, turns_left_out: 3 };
    expect(chatReply(certain, { success: true, data: short })).toEqual(short);
  });

  it('is empty if another server sends nothing, or a value of another type', () => {
    const empty = {
      session_id: 's',
      message_id: '',
      mode: 'asked',
      reply: 'Hello',
      finish_reason: 'stop',
      created_at: '',
      message_count: 0,
      usage: null,
      turns_left_out: 0,
    };
    expect(chatReply(certain, { success: true })).toEqual(empty);
    const odd = {
      message_id: 1,
      mode: null,
      finish_reason: 'tool',
      created_at: 5,
      message_count: '2',
      usage: 9,
    };
    expect(chatReply(certain, { success: true, data: odd })).toEqual(empty);
  });
});
