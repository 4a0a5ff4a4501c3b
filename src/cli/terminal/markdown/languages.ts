// The languages whose code is coloured: the common languages of highlight.js with their aliases, and the languages named here. The module is
// loaded at the first fence.
import common from 'highlight.js/lib/common';
import dart from 'highlight.js/lib/languages/dart';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import elixir from 'highlight.js/lib/languages/elixir';
import haskell from 'highlight.js/lib/languages/haskell';
import nginx from 'highlight.js/lib/languages/nginx';
import powershell from 'highlight.js/lib/languages/powershell';
import protobuf from 'highlight.js/lib/languages/protobuf';
import scala from 'highlight.js/lib/languages/scala';

const furtherLanguages = { dart, dockerfile, elixir, haskell, nginx, powershell, protobuf, scala };
for (const [name, definition] of Object.entries(furtherLanguages)) common.registerLanguage(name, definition);

/** Names that people write after a fence and that highlight.js does not know. */
const furtherAliases = {
  bash: ['fish'],
  ini: ['conf'],
  javascript: ['node'],
  json: ['ndjson'],
  python: ['python3'],
  shell: ['shell-session', 'terminal'],
  sql: ['postgres', 'postgresql', 'mysql', 'sqlite'],
  xml: ['vue'],
};
for (const [languageName, names] of Object.entries(furtherAliases))
  common.registerAliases(names, { languageName });

// The grammar of Markdown takes cubic time for a line such as `[a]([a](`.
common.unregisterLanguage('markdown');

export const highlighter = common;
