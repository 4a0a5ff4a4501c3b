// Asks a person to choose from a list. Like all questions, it is asked on stderr.
import { filterLine, filterText } from './filter.ts';
import { asked, type Prompting } from './prompt.ts';

export interface Choice<Value> {
  /** Untrusted text. The question filters it. */
  readonly name: string;
  readonly value: Value;
  /** In a list of many: chosen unless the person removes it. */
  readonly checked?: boolean;
}

const rows = 15;

/** The person may choose any number of items. */
export async function chooseMany<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  return asked(prompting, async (context, theme) => {
    const { checkbox } = await import('@inquirer/prompts');
    const list = { message: filterText(question), choices: shown(choices), pageSize: rows, theme };
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
    const list = { message: filterText(question), choices: shown(choices), pageSize: rows, theme };
    return select<Value>(list, context);
  });
}

function shown<Value>(choices: readonly Choice<Value>[]): Choice<Value>[] {
  return choices.map((choice) => ({ ...choice, name: filterLine(choice.name) }));
}
