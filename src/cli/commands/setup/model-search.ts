// Finds models for `parley setup`: on this machine, and at the vendors and servers that the user agrees to contact.
import type { ParleyError } from '../../../service/errors.ts';
import type { FoundModels, ModelServer } from '../../../service/model-server.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { confirm } from '../../terminal/prompt.ts';
import { commandFor, localServers, variableOf, vendorsWithKeys } from './model-servers.ts';
import { nothingFound } from './nothing-found.ts';

/** A model that can become a mode. */
export interface Offer {
  readonly server: ModelServer;
  readonly model: string;
}

export class ModelSearch {
  readonly #context: CliContext;
  readonly #found: FoundModels[] = [];
  /** The vendors that the user agreed to contact, and the servers that the user named. */
  readonly #contacted: ModelServer[] = [];
  #vendors: readonly ModelServer[] = [];

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** Searches this machine, and asks about each vendor whose key is set. Reports what was found. */
  async run({ mayAsk }: { readonly mayAsk: boolean }): Promise<readonly Offer[]> {
    this.#found.push(...(await this.#find(localServers(this.#context))));
    this.#vendors = await vendorsWithKeys(this.#context);
    for (const vendor of this.#vendors) this.#add(await this.#findAt(vendor, mayAsk));
    await this.#report(this.#found, this.#contacted);
    return offersOf(this.#found);
  }

  /** Asks the user for a server. If the server does not list its models, the user names one. */
  async askForServer(): Promise<readonly Offer[]> {
    const found = await this.#findNamed();
    this.#add(found);
    return offersOf(found);
  }

  /** The failure of a search without offers. */
  failure(): ParleyError {
    return nothingFound(this.#found, this.#vendors, this.#contacted);
  }

  #add(found: readonly FoundModels[]): void {
    this.#found.push(...found);
    this.#contacted.push(...found.map(({ server }) => server));
  }

  #find(servers: readonly ModelServer[]): Promise<readonly FoundModels[]> {
    const { host, engineOptions, signal } = this.#context;
    return host.findModels(servers, engineOptions, signal);
  }

  async #findAt(vendor: ModelServer, mayAsk: boolean): Promise<readonly FoundModels[]> {
    const variable = variableOf(vendor.key);
    if (!mayAsk) {
      await this.#context.say(`${variable} is set. To use ${vendor.name}: ${commandFor(vendor)}`);
      return [];
    }
    const { host } = new URL(vendor.base_url);
    const question = `${variable} is set. Ask ${host} which models it has?`;
    return (await confirm(question, '--yes', this.#context.prompting)) ? this.#find([vendor]) : [];
  }

  async #findNamed(): Promise<readonly FoundModels[]> {
    const { namedModel, namedServer } = await import('./named-server.ts');
    const server = await namedServer(this.#context);
    if (server === null) return [];
    const found = await this.#find([server]);
    await this.#report(found, [server]);
    if (found.some(({ models }) => models.length > 0)) return found;
    const model = await namedModel(server, this.#context);
    return found.map((silent) => ({ ...silent, models: model === null ? [] : [model] }));
  }

  /** A server without an answer is reported only if the user agreed to contact it. */
  async #report(found: readonly FoundModels[], contacted: readonly ModelServer[]): Promise<void> {
    for (const { server, models, problem: reported } of found) {
      const isSilent = reported === null && models.length === 0 && contacted.includes(server);
      const problem = isSilent ? 'nothing is listening there' : reported;
      const place = `${server.name} (${server.base_url})`;
      if (models.length > 0) {
        const some = models.slice(0, 8).join(', ') + (models.length > 8 ? ', …' : '');
        await this.#context.say(`${place}: ${counted(models.length, 'model')}: ${some}`);
      } else if (problem !== null) await this.#context.say(`${place}: ${problem}`);
    }
  }
}

function offersOf(found: readonly FoundModels[]): readonly Offer[] {
  return found.flatMap(({ server, models }) => models.filter(isForChat).map((model) => ({ server, model })));
}

/** False for models that are not made for chats, judging by their names. */
function isForChat(model: string): boolean {
  return !/embed|rerank|whisper|tts|transcri|moderation|dall-e|imagen|image|realtime|audio/i.test(model);
}
