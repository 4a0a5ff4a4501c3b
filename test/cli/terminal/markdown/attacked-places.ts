// The places of a reply that can contain an attack on the terminal.

const references = (text: string) => [...text].map((one) => `&#${one.codePointAt(0)};`).join('');
export const attackedPlaces: Readonly<Record<string, (attack: string) => string>> = {
  'a paragraph': (attack) => attack,
  'character references': references,
  'strong text': (attack) => `**${attack}**`,
  'a piece of code': (attack) => `\`${attack}\``,
  'a block of code': (attack) => `\`\`\`js\n"${attack}"\n\`\`\``,
  'the info of a fence': (attack) => `~~~${attack}\nx\n~~~`,
  'a heading': (attack) => `# ${attack}`,
  'an address': (attack) => `[text](<${attack}> "${attack}") ![${references(attack)}](x${attack}y)`,
  'an address of references': (attack) => `[${references(attack)}](${references(attack)})`,
  'a table': (attack) =>
    `| ${references(attack)} | ${attack.replaceAll('\n', '')} |\n|---|---|\n| ${references(attack)} | b |`,
  'a quoted list': (attack) => `> 1. ${attack}\n>    ${references(attack)}`,
  HTML: (attack) => `<div>\n${attack}\n<b title="${references(attack)}">`,
};
