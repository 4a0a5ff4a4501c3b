// The slash commands that organise sessions: they pin, archive and tag the current session.
import { ParleyError } from '../../service/errors.ts';
import type { BatchAction } from '../session-batch/batch-kind.ts';
import { fetchSession } from '../session-reference.ts';
import { runSessionAction } from './session-action.ts';
import { requireSessionId, type Scope, type SlashCommand } from './slash-command.ts';

export const organisingCommands = {
  pin: {
    name: 'pin',
    argument: '[off]',
    description: 'pin this session (/pin off unpins it)',
    run: async (argument, scope) => {
      await runOnSession({ kind: isOff(argument, 'pin') ? 'unpin' : 'pin', tags: null }, scope);
    },
  },
  archive: {
    name: 'archive',
    argument: '[off]',
    description: 'hide this session from lists (/archive off shows it again)',
    run: async (argument, scope) => {
      await runOnSession({ kind: isOff(argument, 'archive') ? 'unarchive' : 'archive', tags: null }, scope);
    },
  },
  tag: {
    name: 'tag',
    argument: '[+TAG] [-TAG]',
    description: 'show the tags of this session, or add and remove some',
    run: async (argument, scope) => {
      const words = argument.split(/\s+/).filter(Boolean);
      const [remove, add] = [words.filter(isRemoval), words.filter((word) => !isRemoval(word))];
      if (words.length === 0) await showTags(scope);
      else {
        const tags = {
          add: add.map((word) => word.replace(/^\+/, '')),
          remove: remove.map((word) => word.slice(1)),
        };
        await runOnSession({ kind: 'tag', tags }, scope);
      }
    },
  },
} as const satisfies Readonly<Record<string, SlashCommand>>;

const isRemoval = (word: string) => word.startsWith('-');

function isOff(argument: string, name: string): boolean {
  if (argument === '' || argument === 'off') return argument === 'off';
  throw new ParleyError('USAGE', `/${name} takes no argument except off.`, {
    hint: 'It applies to the current session. /resume ID switches to another.',
  });
}

async function runOnSession(action: BatchAction, { context, conversation }: Scope): Promise<void> {
  await runSessionAction(requireSessionId(conversation), action, context);
}

async function showTags({ context, conversation }: Scope): Promise<void> {
  const { tags } = await fetchSession(requireSessionId(conversation), context);
  await context.stdout.write(`${tags.join(' ') || '(no tags)'}\n`);
}
