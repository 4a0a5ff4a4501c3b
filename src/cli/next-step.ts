// What to do after a failure, in commands and options. Only this file turns the remedies of other folders into words.
import type { ParleyError } from '../service/errors.ts';
import type { ModelProgram } from '../service/model-server.ts';
import type { Remedy } from '../service/remedy.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** The failure's own hint, then the command that helps; empty if there is nothing to do. */
export function nextStep({ hint, remedy }: ParleyError): string {
  return [hint, remedy === null ? '' : remedyText(remedy)].filter((part) => part !== '').join(' ');
}

const startCommands = {
  Ollama: 'Ollama: ollama serve',
  'llama.cpp': 'llama.cpp: llama-server -m model.gguf',
  'LM Studio': 'LM Studio: lms server start',
} as const satisfies Record<ModelProgram, string>;

const checkWords = {
  address: 'Check its address',
  'base address': 'Check its address; it must be the base URL of an OpenAI-compatible API',
  key: 'Check where the key comes from',
  'rights of the key': 'Check what the key is allowed to do',
  settings: 'Check the settings of the mode',
} as const;

function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'check_mode':
      return `${checkWords[remedy.subject]}: parley modes show ${remedy.mode}`;
    case 'mend_mode':
      return `Fix it: parley modes set ${remedy.mode} …, or remove it: parley modes remove ${remedy.mode}`;
    case 'look_at_mode':
      return `Nothing was changed. Review it, then repeat your change: parley modes show ${remedy.mode}`;
    case 'change_fallback':
      return `Remove or change its fallback first: parley modes set ${remedy.mode} --fallback ""`;
    case 'choose_default_mode':
      return 'Choose one: parley modes default NAME';
    case 'refer_to_key':
      return 'Name where to read the key from: --key env:NAME (in a modes file, key: env:NAME).';
    case 'name_key':
      return `Name where to read the key from: parley modes set ${remedy.mode} --key env:NAME`;
    case 'move_key':
      return `Or read the key from elsewhere: parley modes set ${remedy.mode} --key WHERE`;
    case 'change_address':
      return `If you trust that address: parley modes set ${remedy.mode} --base-url URL`;
    case 'choose_model': {
      const pull = remedy.pull === null ? 'Choose' : `ollama pull ${remedy.pull}, or choose`;
      return `${pull} another: parley modes set ${remedy.mode} --model MODEL`;
    }
    case 'send_less':
      return `Send less of the conversation: parley modes set ${remedy.mode} --context TOKENS${remedy.tokens === null ? '' : ` (now ${remedy.tokens})`}, or start a new session.`;
    case 'allow_longer_reply':
      return `Allow a longer reply: parley modes set ${remedy.mode} ${remedy.ofCompletion ? '--param max_completion_tokens=NUMBER' : '--max-tokens NUMBER'}`;
    case 'split_think_tags':
      return `If that text was the reply and not reasoning: parley modes set ${remedy.mode} --think-tags split`;
    case 'show_reasoning':
      return 'Try again; --reasoning shows the model’s reasoning.';
    case 'start_model_server': {
      const command = remedy.program === null ? '' : ` (${startCommands[remedy.program]})`;
      return `Start the model server there${command}. Check its address: parley modes show ${remedy.mode}`;
    }
    case 'allow_longer_silence':
      return remedy.mode === null
        ? 'Try again; --timeout SECONDS waits longer.'
        : `Try again, or wait longer: --timeout SECONDS, or parley modes set ${remedy.mode} ${remedy.within === 'start' ? '--first-token' : '--idle'} SECONDS`;
    case 'trust_certificate':
      return 'If you trust the server, add its certificate or that of its issuer: --ca FILE, or NODE_EXTRA_CA_CERTS';
    case 'check_proxies':
      return 'Check HTTPS_PROXY and HTTP_PROXY; NO_PROXY lists the hosts to reach without a proxy.';
    case 'allow_plain_http':
      return `Use https://, or allow it with --insecure-http${remedy.ofMode ? ' (in a modes file, insecure_http: true)' : ''}.`;
    case 'choose_store_or_url':
      return 'A server has its own store. To use the store, add --profile local, and remove --url if it is there.';
    case 'allow_insecure_store':
      return 'Remove sslmode and name the trusted certificates with sslrootcert, or allow it with --insecure-store.';
    case 'name_mode':
      return '--mode takes the name of a mode. To list the modes: parley models';
    case 'make_template':
      return `Create it: parley templates edit ${quoteForShell(remedy.name)}`;
    case 'mend_template':
      return `Fix it: parley templates edit ${quoteForShell(remedy.name)}`;
    case 'choose_profile_or_url':
      return 'A profile has its own URL: use --profile or --url, but not both.';
    case 'list_keys':
      return 'To list the ids: parley keys list';
    case 'log_in':
      return remedy.profile === null
        ? 'Set PARLEY_API_KEY, or store URL and key in a profile: parley login --profile NAME --url URL'
        : `Log in: parley login --profile ${remedy.profile}`;
    case 'use_profile':
      return `The key of a profile is used only if you name the profile in place of the URL: --profile ${remedy.profile}`;
    case 'make_profile':
      return 'Create one: parley login --profile NAME --url URL';
    case 'name_another_profile':
      return 'Choose another name with --profile NAME.';
    case 'make_store':
      return 'The first chat creates one: parley chat "Hello"';
    case 'migrate_store':
      return remedy.byOwner
        ? 'Its user may not change the tables. Migrate it as their owner: parley store migrate, with that user in --store or PARLEY_STORE'
        : 'Migrate it first: parley store migrate, with its --store, PARLEY_STORE or PARLEY_DATA_DIR';
    case 'resume_copy':
      return 'Resume it: run the same command with --resume';
    case 'restore_store':
      return 'To restore a backup there: parley store restore FILE';
    case 'replace_store':
      return 'Name another place, or replace the store with --replace; in SQLite the old store is kept beside it.';
    case 'restore_session':
      return 'If it was deleted here, restore it: parley sessions restore';
    case 'import_an_export':
      return 'Import the unchanged output of: parley sessions export --format json';
    case 'import_at_store':
      return 'Import it on the machine that has the server’s store: parley sessions import FILE --profile local';
    case 'count_again':
      return 'Run it again with --dry-run, and confirm that count.';
    case 'show_answer':
      return 'To see the response, add --json.';
    case 'name_reply_pointer':
      return 'To see the response, add --json. The profile’s reply_pointer says where the reply is in it, as in /data/reply.';
    case 'choose_port':
      return 'Choose another port with --port; 0 picks a free one.';
    case 'choose_open_port':
      return 'Choose a port of 1024 or higher with --port.';
    case 'choose_host':
      return 'Choose another host with --host.';
    case 'choose_metrics_address':
      return 'Choose another address with --metrics [HOST:]PORT.';
  }
}
