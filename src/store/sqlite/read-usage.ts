// Measures how long each project has read lately. read-queue.ts starts the reads of the project that has read least.

/** After this time (ms) a read counts half. */
const halfLifeMs = 10_000;
/** A project with less than this (ms) is forgotten. */
const negligibleMs = 1;

interface Used {
  readonly ms: number;
  /** When `ms` was counted. */
  readonly at: number;
}

export class ReadUsage {
  readonly #byProject = new Map<string, Used>();

  add(projectId: string, ms: number, now: number): void {
    this.#byProject.set(projectId, { ms: this.of(projectId, now) + ms, at: now });
    for (const [id, used] of this.#byProject) if (left(used, now) < negligibleMs) this.#byProject.delete(id);
  }

  /** How long (ms) a project has read lately. */
  of(projectId: string, now: number): number {
    const used = this.#byProject.get(projectId);
    return used === undefined ? 0 : left(used, now);
  }
}

function left({ ms, at }: Used, now: number): number {
  return ms * 0.5 ** ((now - at) / halfLifeMs);
}
