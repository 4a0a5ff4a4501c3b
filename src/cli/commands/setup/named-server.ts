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
  const { prompting, host, target } = context;
  const home = target.store === null ? host.env['HOME'] : undefined;
  for (;;) {
    const urlQuestion = 'Base URL of a model server, as in its documentation (Enter: none)';
    const base_url = (await askText(urlQuestion, alternative, prompting)).trim();
    if (base_url === '') return null;
    if ((await validServer({ base_url, key: null }, context)) === null) continue;
    const keyQuestion = 'Where is its key? env:NAME, file:PATH or command:LINE (Enter: it needs none)';
    const keyPlace = (await askText(keyQuestion, alternative, prompting)).trim();
    const key = keyPlace === '' ? null : resolveKeyPath(keyPlace, '.', home ?? null);
    const server = await validServer({ base_url, key }, context);
    if (server !== null) return server;
  }
}

/** Validates with the rules for modes. Reports a fault, and then resolves to null. */
async function validServer(
  answers: Pick<ModelServer, 'key'> & { readonly base_url: string },
  context: CliContext,
): Promise<ModelServer | null> {
  try {
    const settings = { ...answers, model: 'any', insecure_http: context.options.insecureHttp };
    const { base_url, key } = readMode('any', settings, []);
    return { name: new URL(base_url).host, base_url, key };
  } catch (error) {
    if (!(error instanceof ModeFault)) throw error;
    const failure = modeFailure(error, 'USAGE', null);
    const message = failure.message.replace(/^base_url/, 'The URL').replace(/^key/, 'The answer');
    await context.say(`${message} ${nextStep(failure)}`.trim());
    return null;
  }
}

/** Asks for the model of a server that does not list its models. Null if the user names none. */
export async function namedModel({ name }: ModelServer, context: CliContext): Promise<string | null> {
  const question = `The name of the model at ${name} (Enter: none)`;
  return (await askText(question, alternative, context.prompting)).trim() || null;
}
