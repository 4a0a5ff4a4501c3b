// The help topics that belong to no single command: `parley help exit-codes`, `environment`, `formatting`.
import { fittedText } from '../help-layout.ts';
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

/** The text of a topic for this number of columns. */
export function topicText(topic: Topic, columns: number): string {
  return fittedText(topics[topic](), columns);
}

function exitCodesText(): string {
  const rows = listExitMeanings().map(({ status, meaning, codes }) => {
    const list = codes.length === 0 ? '' : `       ${codes.join(' ')}\n`;
    return `  ${String(status).padEnd(3)}  ${meaning}\n${list}`;
  });
  return `The exit statuses of parley, with their error codes:

${rows.join('')}
A command on one item exits with the status of that item. A command on several exits with 3 if any failed, or with the status of the cause if it had to stop early. The error code is in parentheses in the message on stderr, and in error.code with --json.
`;
}

function environmentText(): string {
  const rows = [...variables, ...files].map(({ name, purpose }) => `  ${name}\n      ${purpose}\n`);
  return `The environment variables and files of parley. An empty variable counts as unset.

${rows.join('')}
Options take precedence over variables, and variables over the profile. Nothing is read from the working directory. "parley doctor" shows the values in use and where they come from.
`;
}
