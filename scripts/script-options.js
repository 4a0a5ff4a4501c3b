// The options of a script: flags, texts and whole numbers with a lower limit.
import { parseArgs } from 'node:util';

export const flag = { type: 'boolean', default: false };

/** Without a default, an absent option is undefined. */
export function text(value) {
  return { type: 'string', ...(value !== undefined && { default: value }) };
}

/** A whole number of at least `from`. Without a default, an absent option is undefined. */
export function wholeNumber(value, { from = 1 } = {}) {
  return { ...text(value === undefined ? undefined : String(value)), from };
}

/** The options of the command line. The option `killed-ids` is the field `killedIds`. */
export function readOptions(options) {
  const { values } = parseArgs({ options });
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name.replace(/-./g, (letters) => letters[1].toUpperCase()),
      option.from === undefined || values[name] === undefined
        ? values[name]
        : checkedNumber(name, values[name], option.from),
    ]),
  );
}

function checkedNumber(name, value, from) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < from)
    throw new Error(`--${name} must be a whole number of at least ${from}.`);
  return number;
}
