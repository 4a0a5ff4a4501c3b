// Backups that were changed: each changed bit, each cut, and lines that do not belong there.
import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { BackupLine } from '../../src/local/backup-lines.ts';
import { lineText } from '../../src/local/backup-lines.ts';
import { readBackup } from '../../src/local/backup-reading.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { runs } from '../support/runs.ts';

const head = { kind: 'backup', format: 1, made_at: 't', from: 's', sessions: 1 } as const;
const project = { kind: 'project', project_id: 'p', name: 'n', created_at: 1 } as const;
const session = {
  ...({ kind: 'session', project_id: 'p' } as const),
  session: {
    ...{ session_id: 's', title: 'ö', created_at: 1, updated_at: 1, message_count: 1, deleted_at: null },
    ...{ turn_position: null, turn_epoch: 0, undone_turns: 0, mode: null, parent_id: null },
    ...{ forked_at: null, parameters: null, system: null, pinned: true, archived: true, tags: '["t"]' },
    user_id: 'Ü',
  },
  messages: [
    {
      ...({ message_id: 'm', position: 0, role: 'user' } as const),
      ...{ content: 'hi', mode: 'e', finish_reason: null },
      ...{ input_tokens: null, output_tokens: null, first_token_ms: null, error_code: null, created_at: 1 },
      ...{ is_copy: false, alternative_of: null, undone_at: null },
    },
  ],
} satisfies BackupLine;
const modes = { kind: 'modes', default_mode: null, modes: { m: {} } } as const;
const key = {
  ...{ kind: 'key', key_id: 'k', name: 'n', hash: '0'.repeat(64) },
  ...{ project_id: 'p', created_at: 1, revoked_at: null },
};
const withMessage = (fields: object) => ({
  ...session,
  messages: session.messages.map((message) => ({ ...message, ...fields })),
});
const noTime = /line 2 has no time in "created_at"/;
const counts = { projects: 1, keys: 0, modes: 1, sessions: 1, messages: 1, stored_answers: 0 };

/** A backup whose SHA-256 is right for any lines. */
function backupOf(lines: readonly object[], end: object = counts): Buffer {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  return Buffer.from(text + lineText({ kind: 'end', ...end, sha256 } as BackupLine));
}

const whole = backupOf([head, project, modes, session]);

async function failureOf(bytes: Uint8Array): Promise<string> {
  async function* chunks() {
    yield bytes;
  }
  try {
    await readBackup(chunks(), 'b', () => {});
    return '';
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return `${error.code} ${error.message}`;
  }
}

test('a backup as it was written is whole', async () => {
  expect(await failureOf(whole)).toBe('');
});

test('a session of an earlier version, which knew no order, has neither pin nor tags and is not archived', async () => {
  const { pinned: _, archived: __, tags: ___, ...earlier } = session.session;
  const read: BackupLine[] = [];
  async function* chunks() {
    yield backupOf([head, project, modes, { ...session, session: earlier }]);
  }
  await readBackup(chunks(), 'b', (line) => {
    read.push(line);
  });
  expect(read.at(-1)).toEqual({
    ...session,
    session: { ...session.session, pinned: false, archived: false, tags: null },
  });
});

/** A step of three bits reaches each byte, and each bit position. */
const step = runs(3, 1);

test('each bit that changes is found', async () => {
  const unnoticed: number[] = [];
  for (let bit = 0; bit < whole.length * 8; bit += step) {
    const changed = Buffer.from(whole);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    if (!/^STORE_(DAMAGED|NEWER) /.test(await failureOf(changed))) unnoticed.push(bit);
  }
  expect(unnoticed).toEqual([]);
});

test('each cut is found, and anything behind the end', async () => {
  for (let length = 0; length < whole.length; length += 1)
    expect(await failureOf(whole.subarray(0, length))).toMatch(/^STORE_DAMAGED The backup is damaged: b/);
  expect(await failureOf(Buffer.concat([whole, Buffer.from('\n')]))).toBe(
    'STORE_DAMAGED The backup is damaged: b, line 6 comes after the end of the backup.',
  );
});

test.each([
  ['compressed', gzipSync(Buffer.concat(Array.from({ length: 99 }, () => randomBytes(9))))],
  ['compressed and short', gzipSync(whole).subarray(0, 20)],
  ['another text', Buffer.from('{"kind":"project"}\n')],
])('a file that is %s is said to be no backup, or a compressed one', async (_, bytes) => {
  async function* chunks() {
    yield bytes;
  }
  await expect(readBackup(chunks(), 'b', () => {})).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    hint: 'It is not a backup, or it is compressed or encrypted. Pass the decompressed text on standard input.',
  });
});

test.each([
  ['column', { ...project, colour: 1 }],
  ['kind', { kind: 'colour' }],
])('a %s that is not known is said to be damage or that of a newer version', async (_, line) => {
  async function* chunks() {
    yield backupOf([head, line]);
  }
  await expect(readBackup(chunks(), 'b', () => {})).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    hint: 'If a newer version of Parley made it, use that version. Otherwise take another backup.',
  });
});

describe('a backup whose SHA-256 is right is refused', () => {
  const twice = { ...session, messages: [...session.messages, ...withMessage({ position: 1 }).messages] };
  const wrong: readonly [string, Buffer, RegExp][] = [
    [
      'with counts that are not those of its lines',
      backupOf([head, project, modes, session], { ...counts, messages: 2 }),
      /counts 2 messages, but there are 1/,
    ],
    [
      'with a session that lacks a message',
      backupOf([head, project, modes, { ...session, messages: [] }]),
      /before session s has all its messages/,
    ],
    ['with a session that has too many', backupOf([head, project, modes, twice]), /before session s has all/],
    ['with a project that is not there', backupOf([head, modes, session]), /names the project p, which/],
    [
      'with a column of another type',
      backupOf([head, { ...project, name: 1 }]),
      /line 2 has no text in "name"/,
    ],
    [
      'with a column that is not known',
      backupOf([head, { ...project, colour: 1 }]),
      /has "colour", which this version/,
    ],
    [
      'with a kind that is not known',
      backupOf([head, { kind: 'toString' }]),
      /line 2 is no line of a backup/,
    ],
    [
      'with a message that is null',
      backupOf([head, project, modes, { ...session, messages: [null] }]),
      /line 4 has no object in "messages\[0\]"/,
    ],
    ['with a list of modes', backupOf([head, project, { ...modes, modes: [1] }]), /has no object in "modes"/],
    ['with a part of a millisecond', backupOf([head, { ...project, created_at: 1.5 }]), noTime],
    ['with a time that no date has', backupOf([head, { ...project, created_at: 9e15 }]), noTime],
    ['with a number without an end', backupOf([{ ...head, sessions: 1e300 }]), /has no number in "sessions"/],
    [
      'with an unknown side',
      backupOf([head, project, withMessage({ role: 'root' })]),
      /has no role in "mess/,
    ],
    ['with a hash that is none', backupOf([head, project, { ...key, hash: 'zz' }]), /has no hash in "hash"/],
    ['with a project twice', backupOf([head, project, project]), /line 3 names p twice/],
    ['with a key twice', backupOf([head, project, key, key]), /line 4 names k twice/],
    ['with a gap', backupOf([head, project, withMessage({ position: 5 })]), /has position 5 in place of 0/],
    ['with a second beginning', backupOf([head, head]), /line 2 is out of place/],
    ['without a beginning', backupOf([project]), /line 1 is not the beginning/],
    ['of a later format', backupOf([{ ...head, format: 2 }]), /^STORE_NEWER The backup b has format 2/],
  ];
  test.each(wrong)('%s', async (_, bytes, message) => {
    expect(await failureOf(bytes)).toMatch(message);
  });
});
