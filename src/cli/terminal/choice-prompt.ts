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

/** The person may choose any number of items. A list that is longer than the screen narrows while the person types. */
export async function chooseMany<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  if (choices.length > rows) return chooseManyOfLong(question, choices, prompting);
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

/** Shows the list again after each item, until the person goes on. An item that is chosen twice is taken away again. */
async function chooseManyOfLong<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  const all = choices.map(({ name }) => filterLine(name));
  const chosen = new Set(choices.flatMap(({ checked }, at) => (checked === true ? [at] : [])));
  const goOn = -1;
  for (;;) {
    const end = chosen.size === 0 ? 'None of these' : `Go on with ${chosen.size} chosen`;
    const at = await asked(prompting, async (context, theme) => {
      const { search } = await import('@inquirer/prompts');
      const source = (typed = '') => {
        const words = typed.toLowerCase().split(/\s+/);
        const items = all.flatMap((name, value) =>
          words.every((word) => name.toLowerCase().includes(word))
            ? [{ name: `${chosen.has(value) ? '[x]' : '[ ]'} ${name}`, value }]
            : [],
        );
        // With nothing typed, Enter alone goes on; of what was typed, it takes the first.
        return typed === '' ? [{ name: end, value: goOn }, ...items] : items;
      };
      const message = `${filterText(question)} Type to narrow the list; Enter takes one.`;
      const list = { message, source, pageSize: rows, theme };
      return search<number>(list, { ...context, clearPromptOnDone: true });
    });
    if (at === goOn) return choices.flatMap(({ value }, place) => (chosen.has(place) ? [value] : []));
    if (!chosen.delete(at)) chosen.add(at);
  }
}

function shown<Value>(choices: readonly Choice<Value>[]): Choice<Value>[] {
  return choices.map((choice) => ({ ...choice, name: filterLine(choice.name) }));
}
