// Which parts of a text count as secrets. The secrets are assembled here, so that no scanner reports this file.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secretsIn, withoutSecrets } from '../../../src/cli/secrets/found-secrets.ts';
import { Redaction } from '../../../src/cli/secrets/redacted-record.ts';
import { secretRules } from '../../../src/cli/secrets/secret-rules.ts';
import { base62Checksum } from '../../../src/service/base62-checksum.ts';
import { runs } from '../../support/runs.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const hex = '0123456789abcdef';
const some = (count: number, of = letters) =>
  Array.from({ length: count }, (_, index) => of[(index * 7 + 3) % of.length]).join('');
const checked = (prefix: string, count: number) => prefix + some(count) + base62Checksum(some(count));
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

const samples: Readonly<Record<string, string>> = {
  parley_key: checked('pk_', 27),
  github_token: checked('ghp_', 30),
  gitlab_token: `glpat-${some(20)}`,
  npm_token: checked('npm_', 30),
  pypi_token: `pypi-AgEIcHlwaS5vcmc${some(70)}`,
  rubygems_key: `rubygems_${some(48, hex)}`,
  docker_token: `dckr_pat_${some(27)}`,
  slack_token: `xoxb-1234567890-${some(24)}`,
  slack_webhook: `hooks.slack.com/services/T12345678/B12345678/${some(24)}`,
  discord_webhook: `discord.com/api/webhooks/123456789012345678/${some(68)}`,
  aws_access_key: `AKIA${some(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
  google_api_key: `AIza${some(35)}`,
  google_oauth_secret: `GOCSPX-${some(28)}`,
  google_oauth_token: `ya29.${some(100)}`,
  anthropic_key: `sk-ant-api03-${some(93)}AA`,
  openai_key: `sk-proj-${some(80)}`,
  openrouter_key: `sk-or-v1-${some(64, hex)}`,
  huggingface_token: `hf_${some(34, letters.slice(0, 52))}`,
  groq_key: `gsk_${some(52)}`,
  xai_key: `xai-${some(80)}`,
  perplexity_key: `pplx-${some(48)}`,
  replicate_token: `r8_${some(37)}`,
  stripe_key: `sk_live_${some(24)}`,
  stripe_webhook_secret: `whsec_${some(32)}`,
  sendgrid_key: `SG.${some(22)}.${some(43)}`,
  digitalocean_token: `dop_v1_${some(64, hex)}`,
  databricks_token: `dapi${some(32, hex)}`,
  vault_token: `hvs.${some(95)}`,
  shopify_token: `shpat_${some(32, hex)}`,
  grafana_token: `glsa_${some(32)}_${some(8, hex)}`,
  linear_key: `lin_api_${some(40)}`,
  postman_key: `PMAK-${some(24, hex)}-${some(34, hex)}`,
  new_relic_key: `NRAK-${some(27, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}`,
  atlassian_token: `ATATT3${some(180)}=1A2B3C4D`,
  age_key: `AGE-SECRET-KEY-1${some(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}`,
  jwt: `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub: '1' })}.${some(43)}`,
  private_key: `-----BEGIN RSA PRIVATE KEY-----\n${some(64)}\n${some(64)}\n-----END RSA PRIVATE KEY-----`,
  card_number: '4242 4242 4242 4242',
};

/** Samples of which only a part is the secret. */
const within: Readonly<Record<string, readonly [before: string, secret: string, after: string]>> = {
  aws_secret_key: ['AWS_SECRET_ACCESS_KEY=', some(40), '\n'],
  azure_storage_key: ['AccountName=a;AccountKey=', `${some(86)}==`, ';'],
  azure_shared_key: ['SharedAccessKey=', `${some(43)}=`, ';'],
  password_in_url: ['postgres://ada:', 'tr0ub4dor', '@db.example/app'],
};

const places: readonly (readonly [string, string])[] = [
  ['', ''],
  ['The key is ', '.'],
  ['"', '",'],
  ['KEY=', '\n'],
  ['Größe 🙂 (', ')'],
];

describe('a secret', () => {
  test.each(Object.entries(samples))(
    'of the kind %s is found completely, anywhere in a text',
    (kind, secret) => {
      for (const [before, after] of places) {
        const [found, ...others] = secretsIn(before + secret + after);
        const start = before.length;
        expect(found).toMatchObject({ kind, start, end: start + secret.length });
        expect(others).toEqual([]);
        expect(secret.startsWith(found?.prefix ?? '')).toBe(true);
        expect(withoutSecrets(before + secret + after)).toBe(`${before}[redacted ${kind}]${after}`);
      }
    },
  );

  test.each(Object.entries(within))('of the kind %s is found by the text around it', (kind, parts) => {
    const [before, secret, after] = parts;
    expect(secretsIn(parts.join(''))).toEqual([
      { kind, start: before.length, end: before.length + secret.length, prefix: '' },
    ]);
    expect(withoutSecrets(parts.join(''))).toBe(`${before}[redacted ${kind}]${after}`);
  });

  test('of every rule has a sample in this test', () => {
    const kinds = new Set(secretRules.map(({ kind }) => kind));
    expect([...kinds].filter((kind) => !(kind in samples) && !(kind in within))).toEqual([]);
  });

  test('is found each time that it occurs, and beside other numbers and keys', () => {
    const { github_token: token = '', card_number: card = '' } = samples;
    const text = `${token},${token} 12 ${card} 123 and 4111-1111-1111-1111/${samples['jwt']}`;
    expect(secretsIn(text).map(({ kind }) => kind)).toEqual([
      'github_token',
      'github_token',
      'card_number',
      'jwt',
    ]);
    expect(secretsIn(`no. 1 5500-0000-0000-0004, 378282246310005`).map(({ start }) => start)).toEqual([
      6, 27,
    ]);
  });

  test('as an incomplete private key is found up to its last line', () => {
    const block = `-----BEGIN PRIVATE KEY-----\n${some(64)}\n${some(64)}`;
    expect(withoutSecrets(`${block}\nand then I lost it.`)).toBe(
      '[redacted private_key]\nand then I lost it.',
    );
  });
});

describe('no secret', () => {
  const wrong = (token: string) => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
  test.each([
    ['a token with a wrong checksum', wrong(samples['github_token'] ?? '')],
    ['a key of Parley with a wrong checksum', wrong(samples['parley_key'] ?? '')],
    ['a token that is longer than its kind', `${samples['github_token']}A`],
    ['a token inside a word', `x${samples['npm_token']}`],
    ['a card number with a wrong check digit', '4242 4242 4242 4243'],
    ['digits that are grouped as no card is', '42424 24242 4242 424'],
    ['a long number', '4242424242424242424242424242'],
    ['a decimal', '0.4242424242424242'],
    ['the example of Amazon', 'AKIAIOSFODNN7EXAMPLE'],
    ['a public key of Stripe', `pk_live_${some(24)}`],
    ['a placeholder in a URL', `postgres://user:password@host/db redis://:$${'{REDIS}'}@host`],
    ['a time and a port', 'see http://host:8080/a@b and 12:30'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'],
    ['a private key that is left out', '-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----'],
    ['three parts that are no token', `eyJ${some(20)}.${some(20)}.${some(20)}`],
    ['a mark of a redaction', 'postgres://u:[redacted password_in_url]@h/x [redacted jwt]'],
  ])('is %s', (_name, text) => {
    expect(secretsIn(text)).toEqual([]);
  });
});

const ofRules = secretRules.flatMap(({ beginnings }) => beginnings);
const pieces = fc.oneof(
  fc.constantFrom(...ofRules, ...Object.values(samples), '-----BEGIN ', '4242 ', '.', '-', '\n'),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

test('in any text, secrets do not overlap, are in order, and a replacement changes nothing else', () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join('');
      let at = 0;
      let expected = '';
      for (const { kind, start, end } of secretsIn(text)) {
        expect(start).toBeGreaterThanOrEqual(at);
        expect(end).toBeGreaterThan(start);
        expected += `${text.slice(at, start)}[redacted ${kind}]`;
        at = end;
      }
      expect(withoutSecrets(text)).toBe(expected + text.slice(at));
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test('a title that ends in the middle of a secret of its message loses that part', () => {
  const secret = samples['openai_key'] ?? '';
  const content = `Why is my key ${secret} refused?`;
  const session = {
    session_id: 's',
    title: content.slice(0, 60),
    created_at: '',
    updated_at: '',
    message_count: 1,
  };
  const message = { message_id: 'm', position: 0, role: 'user', content, mode: 'echo', usage: null } as const;
  const record = { session, messages: [{ ...message, finish_reason: null, created_at: '' }] };
  const redacted = new Redaction().record(record);
  expect(redacted.session.title).toBe('Why is my key [redacted openai_key]');
  expect(redacted.messages[0]?.content).toBe('Why is my key [redacted openai_key] refused?');
});
