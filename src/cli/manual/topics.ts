// The help topics that belong to no single command: `parley help exit-codes`, `environment`, `formatting`.
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
  return `The exit statuses of parley, with their error codes:

${rows.join('')}
A command on one item exits with the status of that item. A command on several exits with 3 if any failed, or with the
status of the cause if it had to stop early. The error code is in parentheses in the message on stderr, and in
error.code with --json.
`;
}

function environmentText(): string {
  const rows = [...variables, ...files].map(({ name, purpose }) => {
    const lines = wrapped(purpose, 72).map((line) => `      ${line}\n`);
    return `  ${name}\n${lines.join('')}`;
  });
  return `The environment variables and files of parley. An empty variable counts as unset.

${rows.join('')}
Options take precedence over variables, and variables over the profile. Nothing is read from the working directory.
"parley doctor" shows the values in use and where they come from.
`;
}

/** Wraps a text at spaces into lines of at most this many characters. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter((one) => one !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
