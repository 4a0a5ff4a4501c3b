// Questions with a list to choose from, asked on stderr as all questions are.
import { oneLine } from './filter.ts';
import { asked, type Prompting } from './prompt.ts';

export interface Choice<Value> {
  /** Untrusted as it stands. */
  readonly name: string;
  readonly value: Value;
  /** Of many: chosen unless it is taken out. */
  readonly checked?: boolean;
}

const rows = 15;

/** Any number of them. */
export async function chooseMany<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  return asked(prompting, async (context, theme) => {
    const { checkbox } = await import('@inquirer/prompts');
    const list = { message: question, choices: shown(choices, prompting), pageSize: rows, theme };
    return checkbox<Value>(list, context);
  });
}

export async function chooseOne<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<Value> {
  return asked(prompting, async (context, theme) => {
    const { select } = await import('@inquirer/prompts');
    const list = { message: question, choices: shown(choices, prompting), pageSize: rows, theme };
    return select<Value>(list, context);
  });
}

function shown<Value>(choices: readonly Choice<Value>[], { stderr }: Prompting): Choice<Value>[] {
  return choices.map((choice) => ({ ...choice, name: stderr.visible(oneLine(choice.name)) }));
}
