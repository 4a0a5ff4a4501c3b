// Asks the user for a model server that `setup` did not find: its address, and where to read its key from.
import { ModeFault, modeFailure, readMode } from '../../../config/mode-validation.ts';
import { resolveKeyPath } from '../../../config/resolve-key-path.ts';
import type { ModelServer } from '../../../service/model-server.ts';
import type { CliContext } from '../../context.ts';
import { nextStep } from '../../next-step.ts';
import { askText } from '../../terminal/prompt.ts';

const alternative = 'parley modes add NAME --base-url URL --key env:NAME --model MODEL';

/** Null if the user names none. After an invalid answer, the user is asked again. */
export async function namedServer(context: CliContext): Promise<ModelServer | null> {
  const { prompting, host, target, options } = context;
  for (;;) {
    const urlQuestion = 'Base URL of a model server, as in its documentation (Enter: none)';
    const base_url = (await askText(urlQuestion, alternative, prompting)).trim();
    if (base_url === '') return null;
    const keyQuestion = 'Where is its key? env:NAME, file:PATH or command:LINE (Enter: it needs none)';
    const keyPlace = (await askText(keyQuestion, alternative, prompting)).trim();
    const home = target.store === null ? host.env['HOME'] : undefined;
    const key = keyPlace === '' ? null : resolveKeyPath(keyPlace, '.', home ?? null);
    try {
      // Validates with the rules for modes.
      const settings = { base_url, key, model: 'any', insecure_http: options.insecureHttp };
      const server = readMode('any', settings, []);
      return { name: new URL(server.base_url).host, base_url: server.base_url, key: server.key };
    } catch (error) {
      if (!(error instanceof ModeFault)) throw error;
      const failure = modeFailure(error, 'USAGE', null);
      await context.say(`${failure.message} ${nextStep(failure)}`.trim());
    }
  }
}

/** Asks for the model of a server that does not list its models. Null if the user names none. */
export async function namedModel({ name }: ModelServer, context: CliContext): Promise<string | null> {
  const question = `The name of the model at ${name} (Enter: none)`;
  return (await askText(question, alternative, context.prompting)).trim() || null;
}
