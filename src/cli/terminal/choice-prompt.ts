// Asks the user to choose from a list. Like all questions, it is asked on stderr.
import { filterLine, filterText } from './filter.ts';
import { type Prompting, runPrompt } from './prompt.ts';

interface Choice<Value> {
  /** Untrusted text. The question filters it. */
  readonly name: string;
  readonly value: Value;
  /** True for an item of `chooseMany` that is selected at the start. */
  readonly checked?: boolean;
}

const rows = 15;

/** Lets the user choose any number of items. A list that is longer than the screen narrows while the user types. */
export async function chooseMany<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  if (!prompting.stderr.formats) return choosePlainly(question, choices, false, prompting);
  if (choices.length > rows) return chooseFromLongList(question, choices, prompting);
  return runPrompt(prompting, async (context, theme) => {
    const { checkbox } = await import('@inquirer/prompts');
    return checkbox<Value>({ ...listOf(question, choices), theme }, context);
  });
}

export async function chooseOne<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<Value> {
  if (!prompting.stderr.formats) {
    const [value] = await choosePlainly(question, choices, true, prompting);
    return value as Value;
  }
  return runPrompt(prompting, async (context, theme) => {
    const { select } = await import('@inquirer/prompts');
    return select<Value>({ ...listOf(question, choices), theme }, context);
  });
}

async function choosePlainly<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  isOne: boolean,
  prompting: Prompting,
): Promise<readonly Value[]> {
  const plain = await import('./plain-question.ts');
  const names = choices.map(({ name }) => filterLine(name));
  const options = { initial: initialOf(choices), isOne };
  const chosen = await plain.choosePlainly(question, names, options, prompting);
  return choices.filter((_, at) => chosen.includes(at)).map(({ value }) => value);
}

/** Shows the list again after each selection, until the user continues. Selecting an item again deselects it. */
async function chooseFromLongList<Value>(
  question: string,
  choices: readonly Choice<Value>[],
  prompting: Prompting,
): Promise<readonly Value[]> {
  const names = choices.map(({ name }) => filterLine(name));
  const selected = new Set(initialOf(choices));
  const done = -1;
  for (;;) {
    const doneName = selected.size === 0 ? 'Select none of these' : `Continue with ${selected.size} selected`;
    const at = await runPrompt(prompting, async (context, theme) => {
      const { search } = await import('@inquirer/prompts');
      const source = (typed = '') => {
        const words = typed.toLowerCase().split(/\s+/);
        const items = names.flatMap((name, value) =>
          words.every((word) => name.toLowerCase().includes(word))
            ? [{ name: `${selected.has(value) ? '[x]' : '[ ]'} ${name}`, value }]
            : [],
        );
        // If nothing is typed, Enter continues. Otherwise it selects the first item that matches.
        return typed === '' ? [{ name: doneName, value: done }, ...items] : items;
      };
      const message = `${filterText(question)} Type to narrow the list; Enter selects an item.`;
      const list = { message, source, pageSize: rows, theme };
      return search<number>(list, { ...context, clearPromptOnDone: true });
    });
    if (at === done) return choices.flatMap(({ value }, index) => (selected.has(index) ? [value] : []));
    if (!selected.delete(at)) selected.add(at);
  }
}

function listOf<Value>(question: string, choices: readonly Choice<Value>[]) {
  return {
    message: filterText(question),
    choices: choices.map((choice) => ({ ...choice, name: filterLine(choice.name) })),
    pageSize: rows,
  };
}

/** The indexes of the choices that are selected at the start. */
function initialOf(choices: readonly Choice<unknown>[]): readonly number[] {
  return choices.flatMap(({ checked }, at) => (checked === true ? [at] : []));
}
