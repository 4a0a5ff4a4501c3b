// The help that belongs to no command alone: `parley help exit-codes`, `environment`, `formatting`.
import { listExitMeanings } from './exit-meanings.ts';
import { formattingText } from './formatting.ts';
import { files, variables } from './variables-and-files.ts';

const topics = {
  'exit-codes': exitCodesText,
  environment: environmentText,
  formatting: () => formattingText,
};

type Topic = keyof typeof topics;

export const topicNames = Object.keys(topics) as readonly Topic[];

export function isTopic(word: string): word is Topic {
  return Object.hasOwn(topics, word);
}

export function topicText(topic: Topic): string {
  return topics[topic]();
}

function exitCodesText(): string {
  const rows = listExitMeanings().map(({ status, meaning, codes }) => {
    const lines = wrapped(codes.join(' '), 72).map((line) => `       ${line}\n`);
    return `  ${String(status).padEnd(3)}  ${meaning}\n${lines.join('')}`;
  });
  return `The exit status of parley, and the codes of the errors that end with it:

${rows.join('')}
Of one item, the status is its own. Of several it is 3 if any failed; where the command had to stop early, it is
that of the cause. The code stands in parentheses in the message on stderr, and with --json in error.code.
`;
}

function environmentText(): string {
  const rows = [...variables, ...files].map(({ name, purpose }) => {
    const lines = wrapped(purpose, 72).map((line) => `      ${line}\n`);
    return `  ${name}\n${lines.join('')}`;
  });
  return `The variables that parley reads, and the files that it keeps. An empty variable counts as unset.

${rows.join('')}
Options come before variables, variables before the profile. Nothing is read from the working directory.
"parley doctor" shows what is used, and from where.
`;
}

/** At spaces, into lines of at most so many characters. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
