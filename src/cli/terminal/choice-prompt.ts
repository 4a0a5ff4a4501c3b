// Questions with a list to choose from, asked on stderr as all questions are.
import { oneLine } from './filter.ts';
import { asked, type Prompting, promptTheme } from './prompt.ts';

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
  return await asked(prompting, async (context) => {
    const { checkbox } = await import('@inquirer/prompts');
    const theme = promptTheme(await prompting.stderr.style());
    return await checkbox<Value>(
      { message: question, choices: shown(choices, prompting), pageSize: rows, theme },
      context,
    );
  });
}

export async function chooseOne<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<Value> {
  return await asked(prompting, async (context) => {
    const { select } = await import('@inquirer/prompts');
    const theme = promptTheme(await prompting.stderr.style());
    return await select<Value>(
      { message: question, choices: shown(choices, prompting), pageSize: rows, theme },
      context,
    );
  });
}

function shown<Value>(choices: readonly Choice<Value>[], { stderr }: Prompting): Choice<Value>[] {
  return choices.map((choice) => ({ ...choice, name: stderr.visible(oneLine(choice.name)) }));
}
