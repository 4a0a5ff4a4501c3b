// Remembers the session of a command that has done its work, for the next `--continue`.
import { ParleyError } from '../service/errors.ts';
import { quoteForShell } from '../system/shell-quote.ts';
import type { CliContext } from './context.ts';

/** Reports a failure, but does not throw it, because the result of the command matters more. */
export async function rememberOrReport(
  sessionId: string,
  mode: string | null,
  context: CliContext,
): Promise<void> {
  try {
    await context.rememberSession(sessionId, mode);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    await context.stderr.write(
      `parley: ${error.message} (${error.code})\nTo continue this session, use -s ${quoteForShell(sessionId)}: -c does not know it.\n`,
    );
  }
}
