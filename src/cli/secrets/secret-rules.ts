// The shapes of known secrets. Each starts with characters that are rare elsewhere, so that other texts are skipped quickly. The shapes are from
// the services' documentation; docs/secrets.md lists the kinds.
import { endsInItsChecksum } from '../../service/base62-checksum.ts';
import { isHeaderOfToken, isPassword } from './secret-checks.ts';

export interface SecretRule {
  /** The name of the kind in reports and marks. */
  readonly kind: string;
  /** The first characters, which are public. Each occurrence is tried. */
  readonly beginnings: readonly string[];
  /**
   * The shape, including the beginning. Repetitions are bounded and not nested, so that matching takes bounded time. The secret is the group
   * `secret`, or else the whole match.
   */
  readonly shape: RegExp;
  /** Checks a match beyond its shape, such as its checksum. By default each match is a secret. */
  readonly check?: (secret: string) => boolean;
  /** True if letters and digits may precede the secret. */
  readonly insideWords?: boolean;
}

const rule = (
  kind: string,
  beginnings: string,
  rest: string,
  options: Partial<SecretRule> = {},
): SecretRule => {
  const all = beginnings.split(' ');
  const literal = all.map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return { kind, beginnings: all, shape: new RegExp(`(?:${literal})${rest}`, 'dy'), ...options };
};
/** The secret must not continue as a longer word. */
const end = '(?![A-Za-z0-9_-])';
const hasChecksum = (secret: string) => endsInItsChecksum(secret.slice(secret.indexOf('_') + 1));

export const secretRules: readonly SecretRule[] = [
  rule('parley_key', 'pk_', `[A-Za-z0-9]{33}${end}`, { check: hasChecksum }),
  rule('github_token', 'ghp_ gho_ ghu_ ghs_ ghr_', `[A-Za-z0-9]{36}${end}`, { check: hasChecksum }),
  rule('github_token', 'github_pat_', `[A-Za-z0-9]{22}_[A-Za-z0-9]{59}${end}`),
  rule(
    'gitlab_token',
    'glpat- gldt- glrt- glft- glsoat- glcbt- glimt- glagent-',
    `[A-Za-z0-9_-]{20,300}(?:\\.[0-9a-z]{2}(?:\\.[0-9a-z]{2})?[0-9a-z]{7})?${end}`,
  ),
  rule('npm_token', 'npm_', `[A-Za-z0-9]{36}${end}`, { check: hasChecksum }),
  rule('pypi_token', 'pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ', `[A-Za-z0-9_-]{50,1000}${end}`),
  rule('rubygems_key', 'rubygems_', `[0-9a-f]{48}${end}`),
  rule('docker_token', 'dckr_pat_ dckr_oat_', `[A-Za-z0-9_-]{27,40}${end}`),
  rule(
    'slack_token',
    'xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.xoxp- xoxe.xoxb-',
    `[A-Za-z0-9-]{20,250}${end}`,
  ),
  rule('slack_token', 'xapp-', `\\d-[A-Z0-9]{8,20}-\\d{8,20}-[a-z0-9]{30,100}${end}`),
  rule(
    'slack_webhook',
    'hooks.slack.com/services/',
    `T[A-Z0-9]{7,15}/B[A-Z0-9]{7,15}/[A-Za-z0-9]{20,40}${end}`,
  ),
  rule('discord_webhook', 'discord.com/api/webhooks/', `\\d{15,22}/[A-Za-z0-9_-]{60,80}${end}`),
  rule('aws_access_key', 'AKIA ASIA ABIA ACCA', `[A-Z2-7]{16}${end}`, {
    check: (secret) => !secret.endsWith('EXAMPLE'),
  }),
  rule(
    'aws_secret_key',
    'aws_secret_access_key AWS_SECRET_ACCESS_KEY SecretAccessKey secretAccessKey',
    `["']?[ \\t]{0,8}[:=][ \\t]{0,8}["']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
    { check: (secret) => !secret.endsWith('EXAMPLEKEY') },
  ),
  rule('google_api_key', 'AIza', `[A-Za-z0-9_-]{35}${end}`),
  rule('google_oauth_secret', 'GOCSPX-', `[A-Za-z0-9_-]{28}${end}`),
  rule('google_oauth_token', 'ya29.', `[A-Za-z0-9_-]{40,1000}${end}`),
  rule('azure_storage_key', 'AccountKey=', `(?<secret>[A-Za-z0-9+/]{86}==)`),
  rule('azure_shared_key', 'SharedAccessKey=', `(?<secret>[A-Za-z0-9+/]{43}=)`),
  rule('anthropic_key', 'sk-ant-', `[a-z]{3,8}\\d{2}-[A-Za-z0-9_-]{80,120}${end}`),
  rule('openai_key', 'sk-proj- sk-svcacct- sk-admin-', `[A-Za-z0-9_-]{40,250}${end}`),
  rule('openai_key', 'sk-', `[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}${end}`),
  rule('openrouter_key', 'sk-or-v1-', `[0-9a-f]{64}${end}`),
  rule('huggingface_token', 'hf_', `[A-Za-z]{34}${end}`),
  rule('groq_key', 'gsk_', `[A-Za-z0-9]{52}${end}`),
  rule('xai_key', 'xai-', `[A-Za-z0-9]{80}${end}`),
  rule('perplexity_key', 'pplx-', `[A-Za-z0-9]{48}${end}`),
  rule('replicate_token', 'r8_', `[A-Za-z0-9]{37}${end}`),
  rule('stripe_key', 'sk_live_ sk_test_ rk_live_ rk_test_', `[A-Za-z0-9]{16,250}${end}`),
  rule('stripe_webhook_secret', 'whsec_', `[A-Za-z0-9+/]{32,64}={0,2}${end}`),
  rule('sendgrid_key', 'SG.', `[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}${end}`),
  rule('digitalocean_token', 'dop_v1_ doo_v1_ dor_v1_', `[0-9a-f]{64}${end}`),
  rule('databricks_token', 'dapi', `[0-9a-f]{32}(?:-\\d)?${end}`),
  rule('vault_token', 'hvs. hvb.', `[A-Za-z0-9_-]{24,300}${end}`),
  rule('shopify_token', 'shpat_ shpca_ shppa_ shpss_', `[0-9a-fA-F]{32}${end}`),
  rule('grafana_token', 'glsa_', `[A-Za-z0-9]{32}_[0-9a-f]{8}${end}`),
  rule('linear_key', 'lin_api_', `[A-Za-z0-9]{40}${end}`),
  rule('postman_key', 'PMAK-', `[0-9a-f]{24}-[0-9a-f]{34}${end}`),
  rule('new_relic_key', 'NRAK-', `[A-Z0-9]{27}${end}`),
  rule('atlassian_token', 'ATATT3', `[A-Za-z0-9_=-]{150,250}${end}`),
  rule('age_key', 'AGE-SECRET-KEY-1', `[02-9AC-HJ-NP-Z]{58}${end}`),
  // The payload and the signature of a token are not checked.
  rule('jwt', 'eyJ', `[A-Za-z0-9_-]{10,2000}\\.[A-Za-z0-9_-]{4,20000}\\.[A-Za-z0-9_-]{16,2000}${end}`, {
    check: isHeaderOfToken,
  }),
  rule('password_in_url', '://', `[^\\s:@/'"<>]{0,100}:(?<secret>[^\\s@/'"<>]{1,200})@[A-Za-z0-9[]`, {
    check: isPassword,
    insideWords: true,
  }),
];
