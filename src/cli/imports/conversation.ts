// A conversation of another program, in neutral terms: what every source gives and the archive can keep. What a source does not tell is
// null, and nothing is made up for it here.
import type { ParleyError } from '../../service/errors.ts';
import type { FinishReason, Role } from '../../service/session.ts';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly input: string }
  | { readonly kind: 'result'; readonly name: string | null; readonly text: string }
  /** `text`: what the program has read out of the file; null if only its name is known. */
  | { readonly kind: 'attachment'; readonly name: string; readonly text: string | null };

export interface ForeignMessage {
  /** The id in the source; null if it has none. */
  readonly id: string | null;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly time: number | null;
  /** The model of a reply. */
  readonly model: string | null;
  /** How a reply ended; null if it is not told. */
  readonly finish: FinishReason | null;
  readonly parts: readonly Part[];
}

/** One line of messages from the beginning of a conversation to a leaf of its tree. */
export interface Branch {
  /** Stays the same while the branch grows: the id of the first message that is no first child; empty for the oldest branch. */
  readonly key: string;
  /** The branch that this one left; null for the oldest. */
  readonly parent: string | null;
  /** How many of its first messages the parent has, too. */
  readonly shared: number;
  readonly messages: readonly ForeignMessage[];
}

export interface ForeignConversation {
  readonly id: string;
  readonly title: string | null;
  /** The person whose conversation it is, where the source tells it. */
  readonly user?: string | null;
  /** Epoch milliseconds. */
  readonly created: number | null;
  /** The system prompt that its owner wrote. */
  readonly system: string | null;
  /** The current branch comes first. Each is made when it is asked for, because a tree of many leaves repeats its trunk. */
  readonly branches: Iterable<Branch>;
}

/** One thing that was found in a file. `place` is where it stands in that file. */
export type SourceReading =
  | { readonly place: string; readonly conversation: ForeignConversation }
  | { readonly place: string; readonly failure: ParleyError }
  | { readonly place: string; readonly skipped: string };

/** The branches of a conversation that has one line only. */
export function onlyBranch(messages: readonly ForeignMessage[]): readonly Branch[] {
  return [{ key: '', parent: null, shared: 0, messages }];
}
