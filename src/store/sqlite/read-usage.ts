// How long each project has read lately, so that whoever has read least comes first. What is past counts less and less.

const halfLifeMs = 10_000;
const negligibleMs = 1;

interface Used {
  readonly ms: number;
  /** When that was counted. */
  readonly at: number;
}

export class ReadUsage {
  readonly #byProject = new Map<string, Used>();

  add(projectId: string, ms: number, now: number): void {
    this.#byProject.set(projectId, { ms: this.of(projectId, now) + ms, at: now });
    for (const [id, used] of this.#byProject) if (left(used, now) < negligibleMs) this.#byProject.delete(id);
  }

  /** In milliseconds. */
  of(projectId: string, now: number): number {
    const used = this.#byProject.get(projectId);
    return used === undefined ? 0 : left(used, now);
  }
}

function left({ ms, at }: Used, now: number): number {
  return ms * 0.5 ** ((now - at) / halfLifeMs);
}
