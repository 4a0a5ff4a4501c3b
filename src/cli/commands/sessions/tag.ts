// `parley sessions tag`: adds and removes tags. A word that starts with + or - is a tag (tag-removals.ts); any other is an id.

import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { helpNote } from '../../help-layout.ts';
import { repeatable } from '../../option-values.ts';
import type { Run } from '../../run.ts';
import { registerBatch } from './batch-command.ts';

const usage = `
+TAG adds a tag, -TAG removes one.`;

export function registerTag(parent: Command, run: Run): void {
  registerBatch(parent, run, {
    kind: 'tag',
    description: 'add or remove tags of sessions',
    options: (command) =>
      command
        .option('--add <tag>', 'add this tag, like +TAG; repeatable', repeatable)
        .option('--remove <tag>', 'remove this tag, like -TAG; repeatable', repeatable)
        .addHelpText('after', helpNote(usage)),
    read(words, { add = [], remove = [], resume }) {
      const isTag = (word: string) => word.startsWith('+') && word.length > 1;
      const tags = { add: [...add, ...words.filter(isTag).map((word) => word.slice(1))], remove };
      if (tags.add.length + remove.length === 0 && resume === undefined) {
        throw new ParleyError('USAGE', 'No tag was given.', {
          hint: 'Add tags with +TAG, or remove them with -TAG.',
        });
      }
      return { words: words.filter((word) => !isTag(word)), tags };
    },
  });
}
