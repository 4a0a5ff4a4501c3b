// Checks the form of a failed command, as text and as JSON.
import { expect } from 'vitest';
import type { Outcome } from './parley.ts';

interface Expected {
  readonly status: number;
  readonly code: string;
}

/** As text: nothing on stdout. */
export function expectFailure({ status, out, err }: Outcome, expected: Expected): void {
  expect({ status, out }).toEqual({ status: expected.status, out: '' });
  expectWords(err, expected.code);
}

/** With `--json`: one body on stdout with `success` false, and the text on stderr as usual. Returns its error. */
export function expectJsonFailure(
  { status, out, err }: Outcome,
  expected: Expected,
): { readonly code: string; readonly message: string; readonly details?: unknown } {
  const body = JSON.parse(out);
  const lines = out.split('\n').length - 1;
  expect({ status, success: body.success, code: body.error?.code, lines }).toEqual({
    status: expected.status,
    success: false,
    code: expected.code,
    lines: 1,
  });
  expect(body.error.message).not.toBe('');
  expectWords(err, expected.code);
  return body.error;
}

/** One line with the failure and its code, then the remedy; no stack trace. */
function expectWords(err: string, code: string): void {
  const lines = err.trimEnd().split('\n');
  const at = lines.findIndex((line) => line.startsWith('parley: '));
  expect(lines[at]).toMatch(new RegExp(`^parley: .*[.?] \\(${code}\\)$`));
  expect(lines[at + 1] ?? '', `what to do after: ${lines[at]}`).not.toBe('');
  expectNoStackTrace(err);
}

export function expectNoStackTrace(err: string): void {
  expect(err).not.toMatch(/^\s+at |node:internal|Node\.js v\d/m);
}
