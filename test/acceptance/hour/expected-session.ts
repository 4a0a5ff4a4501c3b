// The expected state of a session, updated with every turn: the visible messages, and the replaced and undone ones.
import { expect } from 'vitest';
import type { ModelTurn } from './markdown-model.ts';

interface Turn {
  readonly asked: string;
  readonly askedIn: string;
  reply: string;
  mode: string;
  readonly alternatives: string[];
}

export interface SessionRow {
  readonly session_id: string;
  readonly title: string | null;
  readonly mode: string | null;
  readonly system: string | null;
  readonly parameters: string | null;
  readonly parent_id: string | null;
  readonly message_count: number;
}

export interface Line {
  /** `user MODE` or `assistant MODE`, and the text. */
  readonly visible: readonly string[];
  /** `alternative` or `undone`, and the text; sorted. */
  readonly hidden: readonly string[];
}

export class ExpectedSession {
  readonly id: string;
  title = '';
  mode = '';
  system: string | null = null;
  temperature: number | null = null;
  parent: string | null = null;
  #line: Turn[] = [];
  #undone: Turn[] = [];
  #lost: Turn[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** How many turns are visible. */
  get turns(): number {
    return this.#line.length;
  }

  /** The end of the id. */
  get end(): string {
    return this.id.slice(-8);
  }

  /** The last request of the model in this mode must contain the settings and the visible messages. */
  said(asked: string, mode: string, turn: ModelTurn): void {
    this.#expectContext([...this.#texts(), asked], turn);
    this.#line.push({ asked, askedIn: mode, reply: turn.reply, mode, alternatives: [] });
    this.#after(mode);
  }

  regenerated(mode: string, turn: ModelTurn): void {
    const last = this.#line.at(-1);
    if (last === undefined) throw new Error('there is no turn');
    this.#expectContext(this.#texts().slice(0, -1), turn);
    last.alternatives.push(last.reply);
    Object.assign(last, { reply: turn.reply, mode });
    this.#after(mode);
  }

  undone(): void {
    const turn = this.#line.pop();
    if (turn === undefined) throw new Error('there is no turn');
    this.#undone.push(turn);
    this.mode = this.#modeOfLastTurn();
  }

  redone(): void {
    const turn = this.#undone.pop();
    if (turn === undefined) throw new Error('there is nothing to bring back');
    this.#line.push(turn);
    this.mode = this.#modeOfLastTurn();
  }

  /** A copy of the visible messages. */
  forked(id: string, title: string): ExpectedSession {
    const copy = new ExpectedSession(id);
    const { mode, system, temperature } = this;
    Object.assign(copy, { title, mode, system, temperature, parent: this.id });
    copy.#line = this.#line.map((turn) => ({ ...turn, alternatives: [] }));
    return copy;
  }

  check(row: SessionRow | undefined, line: Line): void {
    const { id: session_id, title, mode, system, temperature, parent: parent_id } = this;
    const { parameters, ...others } = row ?? { parameters: null };
    expect(others).toEqual({
      ...{ session_id, title, mode, system, parent_id, message_count: 2 * this.turns },
    });
    expect(JSON.parse(parameters ?? '{}')).toEqual(temperature === null ? {} : { temperature });
    expect(line.visible).toEqual(
      this.#line.flatMap(({ asked, askedIn, reply, mode: repliedIn }) => [
        `user ${askedIn}: ${asked}`,
        `assistant ${repliedIn}: ${reply}`,
      ]),
    );
    const undone = [...this.#undone, ...this.#lost];
    const hidden = [
      ...undone.flatMap(({ asked, reply }) => [`undone: ${asked}`, `undone: ${reply}`]),
      ...[...this.#line, ...undone].flatMap(({ alternatives }) =>
        alternatives.map((reply) => `alternative: ${reply}`),
      ),
    ];
    expect(line.hidden).toEqual(hidden.sort());
  }

  #after(mode: string): void {
    this.mode = mode;
    this.#lost.push(...this.#undone.splice(0));
  }

  #modeOfLastTurn(): string {
    const last = this.#line.at(-1);
    if (last === undefined) return this.mode;
    return last.alternatives.length > 0 ? last.mode : last.askedIn;
  }

  #texts(): readonly string[] {
    return this.#line.flatMap(({ asked, reply }) => [asked, reply]);
  }

  #expectContext(texts: readonly string[], { messages, temperature }: ModelTurn): void {
    expect(messages.filter(({ role }) => role !== 'system').map(({ content }) => content.trimEnd())).toEqual(
      texts.map((text) => text.trimEnd()),
    );
    expect(messages.filter(({ role }) => role === 'system').map(({ content }) => content)).toEqual(
      this.system === null ? [] : [this.system],
    );
    expect(temperature ?? null).toBe(this.temperature);
  }
}
