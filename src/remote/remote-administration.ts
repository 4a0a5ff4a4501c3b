// Administration is for whoever owns a store's file, on the machine that has it: no server offers it.
import type {
  Administration,
  CreatedKey,
  KeyRecord,
  ModeRecord,
  PurgePlan,
  PurgeReport,
  StoreReport,
  UsageRecord,
} from '../service/administration.ts';
import { ParleyError } from '../service/errors.ts';
import type { FoundModels } from '../service/model-server.ts';

export class RemoteAdministration implements Administration {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  listModes(): Promise<readonly ModeRecord[]> {
    return this.#refuse();
  }

  putMode(): Promise<void> {
    return this.#refuse();
  }

  removeMode(): Promise<void> {
    return this.#refuse();
  }

  chosenDefault(): Promise<string | null> {
    return this.#refuse();
  }

  setDefaultMode(): Promise<void> {
    return this.#refuse();
  }

  findModels(): Promise<readonly FoundModels[]> {
    return this.#refuse();
  }

  usage(): Promise<readonly UsageRecord[]> {
    return this.#refuse();
  }

  createKey(): Promise<CreatedKey> {
    return this.#refuse();
  }

  listKeys(): Promise<readonly KeyRecord[]> {
    return this.#refuse();
  }

  revokeKey(): Promise<KeyRecord> {
    return this.#refuse();
  }

  inspectStore(): Promise<StoreReport> {
    return this.#refuse();
  }

  planPurge(): Promise<PurgePlan> {
    return this.#refuse();
  }

  purgeSessions(): Promise<PurgeReport> {
    return this.#refuse();
  }

  holdsAny(): Promise<boolean> {
    return this.#refuse();
  }

  async #refuse(): Promise<never> {
    throw new ParleyError(
      'UNSUPPORTED',
      `${this.#url} is administered on its own machine, never over HTTP.`,
      {
        hint: 'Run this there; or, for the embedded service of this machine, add --profile local.',
      },
    );
  }
}
