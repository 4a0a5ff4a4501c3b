// Asks the person for a model server that `setup` does not find by itself: its address, and where its key is.
import { ModeFault, modeFailure, readMode } from '../../../config/mode-validation.ts';
import { resolveKeyPath } from '../../../config/resolve-key-path.ts';
import type { ModelServer } from '../../../service/model-server.ts';
import type { CliContext } from '../../context.ts';
import { nextStep } from '../../next-step.ts';
import { askText } from '../../terminal/prompt.ts';

const otherwise = 'parley modes add NAME --base-url URL --key env:NAME --model MODEL';

/** Null if the person names none. A fault in the answers is told, and they are asked for again. */
export async function namedServer(context: CliContext): Promise<ModelServer | null> {
  const { prompting, host, target, options } = context;
  for (;;) {
    const address = 'Base URL of a model server, as its documentation has it (Enter: none)';
    const base_url = (await askText(address, otherwise, prompting)).trim();
    if (base_url === '') return null;
    const place = 'Where is its key? env:NAME, file:PATH or command:LINE (Enter: it needs none)';
    const named = (await askText(place, otherwise, prompting)).trim();
    const home = target.store === null ? host.env['HOME'] : undefined;
    const key = named === '' ? null : resolveKeyPath(named, '.', home ?? null);
    try {
      // The rules are those of a mode's settings.
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

/** The model of a server that does not list its models; null if the person names none. */
export async function namedModel({ name }: ModelServer, context: CliContext): Promise<string | null> {
  const question = `The model, as ${name} names it (Enter: none)`;
  return (await askText(question, otherwise, context.prompting)).trim() || null;
}
