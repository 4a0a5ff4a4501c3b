// Replaces Ajv's keywords that compare values. Ajv's own ones break for names such as `toString`, compare items in quadratic time, and divide
// binary fractions, so that 0.3 is not a multiple of 0.1.
import type { Ajv2020 } from 'ajv/dist/2020.js';

export function addValueKeywords(ajv: Ajv2020): void {
  for (const name of ['const', 'enum', 'uniqueItems', 'multipleOf']) ajv.removeKeyword(name);
  ajv.addKeyword({
    keyword: 'const',
    error: { message: 'must equal const' },
    compile: (only: unknown) => {
      const text = canonical(only);
      return (value: unknown) => canonical(value) === text;
    },
  });
  ajv.addKeyword({
    keyword: 'enum',
    error: { message: 'must be one of the values of enum' },
    compile: (values: readonly unknown[]) => {
      const texts = new Set(values.map(canonical));
      return (value: unknown) => texts.has(canonical(value));
    },
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    error: { message: 'must not contain an item twice' },
    compile: (isRequired: boolean) => (list: readonly unknown[]) =>
      !isRequired || new Set(list.map(canonical)).size === list.length,
  });
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    error: { message: 'must be a multiple of multipleOf' },
    compile: (unit: number) => (value: number) => isMultiple(value, unit),
  });
}

/** The same text for equal JSON values: the order of names does not count, and 0 equals -0. */
function canonical(value: unknown): string {
  if (typeof value === 'number') return String(Object.is(value, -0) ? 0 : value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const names = Object.keys(value).sort();
  const members = names.map(
    (name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`,
  );
  return `{${members.join()}}`;
}

/** Compares the decimal digits. */
function isMultiple(value: number, unit: number): boolean {
  const [digits, power] = decimal(value);
  const [unitDigits, unitPower] = decimal(unit);
  const common = Math.min(power, unitPower);
  return (digits * 10n ** BigInt(power - common)) % (unitDigits * 10n ** BigInt(unitPower - common)) === 0n;
}

/** The number as whole digits times a power of ten. */
function decimal(number: number): readonly [digits: bigint, power: number] {
  const [, whole = '0', fraction = '', power = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(number)) ?? [];
  return [BigInt(whole + fraction), Number(power) - fraction.length];
}
