// The name of a mode for a model: the model's name without invalid characters, with a number if the name is taken.

export function freeName(model: string, taken: ReadonlySet<string>): string {
  const last = model.split('/').at(-1) ?? '';
  const name = last
    .replace(/[^A-Za-z0-9._:-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 50);
  const base = name === '' ? 'model' : name;
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(free)) return free;
  }
}
