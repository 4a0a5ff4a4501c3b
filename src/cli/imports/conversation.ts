// A conversation of another program in neutral terms: what sources provide and the archive can store. Values that a source does not provide are
// null.
import type { ParleyError } from '../../service/errors.ts';
import type { FinishReason, Role } from '../../service/session.ts';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly input: string }
  | { readonly kind: 'result'; readonly name: string | null; readonly text: string }
  /** `text` is the text that the program extracted from the file; null if only its name is known. */
  | { readonly kind: 'attachment'; readonly name: string; readonly text: string | null };

/** One part with this text, or none if it is null. */
export function textParts(kind: 'text' | 'thinking', text: string | null): readonly Part[] {
  return text === null ? [] : [{ kind, text }];
}

export interface ForeignMessage {
  /** The id in the source; null if it has none. */
  readonly id: string | null;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly time: number | null;
  /** The model of a reply. */
  readonly model: string | null;
  /** How a reply ended; null if unknown. */
  readonly finish: FinishReason | null;
  readonly parts: readonly Part[];
}

/** The messages from the root of a conversation's tree to one leaf. */
export interface Branch {
  /** Stays the same while the branch grows: the id of the last message that is not a first child; empty for the oldest branch. */
  readonly key: string;
  /** The key of the branch that this one left; null for the oldest branch. */
  readonly parent: string | null;
  /** How many of its first messages it shares with the parent. */
  readonly shared: number;
  readonly messages: readonly ForeignMessage[];
}

export interface ForeignConversation {
  readonly id: string;
  readonly title: string | null;
  /** The user of the conversation, if the source has several. */
  readonly user?: string | null;
  /** Epoch milliseconds. */
  readonly created: number | null;
  /** The system prompt that the user wrote. */
  readonly system: string | null;
  /** The current branch comes first. Branches are created lazily, because those of a tree repeat its trunk. */
  readonly branches: Iterable<Branch>;
}

/** One item of a file. `place` is its position in the file; null if it is the whole file. */
export type SourceReading = { readonly place: string | null } & (
  | { readonly conversation: ForeignConversation }
  | { readonly failure: ParleyError }
  | { readonly skipped: string }
);

/** The branches of a conversation that is not a tree. */
export function singleBranch(messages: readonly ForeignMessage[]): readonly Branch[] {
  return [{ key: '', parent: null, shared: 0, messages }];
}
