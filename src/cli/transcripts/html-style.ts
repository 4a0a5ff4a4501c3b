// The style of an exported page, for light and dark mode and for print.

/** The colours of code, each with its scopes of highlight.js. */
const colours = Object.entries({
  'light-dark(#8a1fa8, #d79bea)': ['keyword', 'name', 'selector-tag'],
  'light-dark(#0b6b6b, #7fd1c9)': ['built_in', 'type', 'literal'],
  'light-dark(#94540a, #e2b36b)': [
    'number',
    'symbol',
    'char',
    'bullet',
    'variable',
    'template-variable',
    'title-class',
  ],
  'light-dark(#1c6e2b, #9ccf8a)': ['string', 'regexp', 'addition'],
  'light-dark(#1f4fae, #8db8ee)': [
    'title',
    'section',
    'attr',
    'attribute',
    'property',
    'selector-class',
    'selector-id',
    'selector-attr',
    'selector-pseudo',
  ],
  'light-dark(#a33, #f0908c)': ['deletion'],
  'var(--quiet)': ['comment', 'quote', 'doctag', 'meta', 'meta-prompt'],
})
  .map(([colour, scopes]) => `:is(${scopes.map((scope) => `.hl-${scope}`).join(', ')}) { color: ${colour}; }`)
  .join('\n');

export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1d1f23, #e6e6e3); --paper: light-dark(#fff, #17181b);
  --soft: light-dark(#f2f3f5, #222429); --line: light-dark(#d8dadf, #3a3d44); --quiet: light-dark(#63676f, #9a9ea7);
  --accent: light-dark(#1f5fae, #8db8ee); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1.25rem 4rem; display: flex; flex-direction: column;
  color: var(--ink); background: var(--paper); font: 16px/1.6 system-ui, sans-serif; }
nav { order: -1; border-bottom: 1px solid var(--line); padding-bottom: 1rem; }
nav h2 { font-size: 1rem; margin: 0; }
nav li { margin: .4rem 0; overflow-wrap: anywhere; }
nav small { color: var(--quiet); }
nav input { font: inherit; padding: .3rem .6rem; width: 100%; }
a { color: var(--accent); }
article + article { border-top: 3px double var(--line); margin-top: 3rem; }
header p, time, section > h2 { color: var(--quiet); font-size: .85rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; }
section { margin: 1.25rem 0; overflow-wrap: anywhere; }
section > h2 { margin: 0 0 .35rem; font-weight: 600; }
section > h2 time { font-weight: 400; margin-left: .4rem; }
.cut { color: light-dark(#a33, #f0908c); margin-left: .4rem; }
.aside { margin-left: .4rem; }
section.hidden { opacity: .65; }
.user > div { background: var(--soft); border-left: 3px solid var(--accent); border-radius: 0 6px 6px 0; padding: .7rem 1rem; }
.typed { white-space: pre-wrap; }
.assistant > div > :first-child { margin-top: 0; }
.assistant div :is(h1, h2, h3, h4, h5, h6) { color: var(--ink); font-size: 1.1rem; margin: 1.2rem 0 .4rem; }
code, pre { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
:not(pre) > code { background: var(--soft); border-radius: 4px; padding: .1em .35em; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; overflow-x: auto; padding: .8rem 1rem; overflow-wrap: normal; }
blockquote { border-left: 3px solid var(--line); color: var(--quiet); margin: 1rem 0; padding-left: 1rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; overflow-wrap: normal; }
th, td { border: 1px solid var(--line); padding: .3rem .7rem; vertical-align: top; }
th:not([align]) { text-align: start; }
hr { border: 0; border-top: 1px solid var(--line); }
${colours}
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; } nav p { display: none; } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  table { display: table; overflow: visible; font-size: 9pt; overflow-wrap: break-word; }
  table:has(:is(th, td):nth-child(8)) { font-size: 7pt; overflow-wrap: anywhere; }
  thead { display: table-header-group; } tr { break-inside: avoid; }
}
`;
