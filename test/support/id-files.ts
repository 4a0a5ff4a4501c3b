// Generates files of session ids, valid and invalid in every way, each with its expected effect.
import fc from 'fast-check';

export interface IdFile {
  readonly bytes: Buffer;
  /** The ids that it names, in order, with duplicates; null if a line makes the whole file invalid. */
  readonly ids: readonly string[] | null;
  /** The numbers of invalid lines, from 1. */
  readonly wrongLines: readonly number[];
}

interface Line {
  readonly bytes: Buffer;
  /** Null for a line without an id. */
  readonly id: string | null;
  readonly isWrong: boolean;
}

const wrong = (bytes: Buffer | string): Line => ({ bytes: Buffer.from(bytes), id: null, isWrong: true });
const silent = (text: string): Line => ({ bytes: Buffer.from(text), id: null, isWrong: false });
const naming = (text: string, id: string): Line => ({ bytes: Buffer.from(text), id, isWrong: false });

/** `known`: ids of existing sessions, which a file may name. */
export function idFiles(known: readonly string[]): fc.Arbitrary<IdFile> {
  const id = fc.constantFrom(...known);
  // Plain ids of no session, without any other meaning.
  const strange = fc.constantFrom(
    '*',
    'ses_*',
    '?',
    '[a-z]*',
    '{a,b}'.slice(1),
    '%',
    '_',
    "'--",
    "x';DROP_TABLE_sessions;--",
    '$(ls)',
    '~',
    '../..',
    '%2e%2e',
    'null',
    '-',
    '--all',
    '日本',
    'é',
    '😀'.repeat(255),
  );
  const space = fc.constantFrom('', ' ', '\t', '  \t', '\u00a0');
  const right: fc.Arbitrary<Line> = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(space, id, space).map(([a, one, b]) => naming(a + one + b, one)) },
    { weight: 1, arbitrary: strange.map((one) => naming(one, one)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(space, id, fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }))
        .map(([a, one, more]) => naming(a + JSON.stringify({ ...more, session_id: one }), one)),
    },
    { weight: 1, arbitrary: space.map(silent) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(space, id, fc.constantFrom('', ' ', '\t"{'))
        .map(([a, one, b]) => silent(`${a}#${b}${one}`)),
    },
  );
  const object = id.map((one) => JSON.stringify({ title: 'é "x"', session_id: one }));
  const broken: fc.Arbitrary<Line> = fc.oneof(
    // A line of JSON that is cut anywhere after its first character.
    fc.tuple(object, fc.double({ min: 0, max: 0.999, noNaN: true })).map(([text, part]) => {
      const bytes = Buffer.from(text);
      return wrong(bytes.subarray(0, 1 + Math.floor((bytes.length - 1) * part)));
    }),
    // JSON of another shape.
    fc
      .tuple(fc.constantFrom('id', 'ids', 'Session_ID', 'session-id'), id)
      .map(([name, one]) => wrong(JSON.stringify({ [name]: one }))),
    fc
      .jsonValue()
      .filter((value) => typeof value !== 'string')
      .map((value) => wrong(JSON.stringify({ session_id: value }))),
    id.map((one) => wrong(JSON.stringify({ session_id: [one] }))),
    id.map((one) => wrong(JSON.stringify({ data: { session_id: one } }))),
    fc
      .constantFrom('', '.', '..', 'a b', 'a\u0000', '\u202e', 'x'.repeat(256))
      .map((one) => wrong(JSON.stringify({ session_id: one }))),
    fc
      .tuple(id, id)
      .map(([a, b]) => wrong(JSON.stringify({ session_id: a }) + JSON.stringify({ session_id: b }))),
    // Invalid ids.
    fc
      .tuple(id, fc.constantFrom(' ', '\t', ', ', '\u00a0', '\r', '\u2028', '\v'), id)
      .map(([a, gap, b]) => wrong(a + gap + b)),
    fc
      .constantFrom('.', '..', 'x'.repeat(256), '\u202eid', 'a\u200bb', '\x1b[2J', '{', '{}', '{]')
      .map(wrong),
    // Not text.
    fc
      .tuple(
        id,
        fc.constantFrom([0], [0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0xaf]),
        fc.constantFrom('', 'x'),
      )
      .map(([one, bytes, rest]) =>
        wrong(Buffer.concat([Buffer.from(one), Buffer.from(bytes), Buffer.from(rest)])),
      ),
    fc.tuple(fc.constantFrom('# ', ''), id).map(([a, one]) => wrong(`${a}${one}\0`)),
  );
  const lines = fc.array(right, { maxLength: 12 });
  return fc
    .record({
      before: lines,
      fault: fc.option(broken, { freq: 2 }),
      after: lines,
      end: fc.constantFrom('\n', '\r\n'),
      mark: fc.boolean(),
      isClosed: fc.boolean(),
    })
    .map(({ before, fault, after, end, mark, isClosed }) => {
      const all = [...before, ...(fault === null ? [] : [fault]), ...after];
      const parts = all.flatMap(({ bytes }, at) => [
        bytes,
        Buffer.from(at < all.length - 1 || isClosed ? end : ''),
      ]);
      const wrongLines = all.flatMap(({ isWrong }, at) => (isWrong ? [at + 1] : []));
      return {
        bytes: Buffer.concat([Buffer.from(mark ? '\ufeff' : ''), ...parts]),
        ids: wrongLines.length > 0 ? null : all.flatMap((line) => line.id ?? []),
        wrongLines,
      };
    });
}
