// All commands, in the order of the help.
import { registerAudit } from './commands/audit/audit.ts';
import { registerChat } from './commands/chat.ts';
import { registerComplete, registerCompletion } from './commands/completion.ts';
import { registerDoctor } from './commands/doctor.ts';
import { registerHelp, registerHelpOfGroups } from './commands/help.ts';
import { registerKeys } from './commands/keys/keys.ts';
import { registerLogin } from './commands/login.ts';
import { registerLogout } from './commands/logout.ts';
import { registerModels } from './commands/models.ts';
import { registerModes } from './commands/modes/modes.ts';
import { registerProfiles } from './commands/profiles/profiles.ts';
import { registerRepl } from './commands/repl.ts';
import { registerRetention } from './commands/retention/retention.ts';
import { registerServe } from './commands/serve.ts';
import { registerSessions } from './commands/sessions/sessions.ts';
import { registerSetup } from './commands/setup.ts';
import { registerStore } from './commands/store/store.ts';
import { registerSync } from './commands/sync.ts';
import { registerTemplates } from './commands/templates/templates.ts';
import { registerUsage } from './commands/usage.ts';
import { registerVerify } from './commands/verify.ts';
import type { Register } from './run.ts';

const commands: ReadonlyMap<string, Register> = new Map([
  ['chat', registerChat],
  ['repl', registerRepl],
  ['sessions', registerSessions],
  ['sync', registerSync],
  ['models', registerModels],
  ['modes', registerModes],
  ['templates', registerTemplates],
  ['setup', registerSetup],
  ['usage', registerUsage],
  ['verify', registerVerify],
  ['login', registerLogin],
  ['logout', registerLogout],
  ['profiles', registerProfiles],
  ['keys', registerKeys],
  ['audit', registerAudit],
  ['retention', registerRetention],
  ['serve', registerServe],
  ['store', registerStore],
  ['doctor', registerDoctor],
  ['completion', registerCompletion],
]);

export function isCommand(word: string): boolean {
  return commands.has(word);
}

/** The registration of the command line's first word. Help, completion and unknown words get all registrations, because they need the whole tree. */
export function registrationsOf(first: string): readonly Register[] {
  const only = commands.get(first);
  const own = only === undefined ? [...commands.values(), ...treeReaders] : [only];
  return [...own, registerHelpOfGroups];
}

const treeReaders: readonly Register[] = [registerHelp, registerComplete];
