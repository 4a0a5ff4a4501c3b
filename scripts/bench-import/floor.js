// The floor of an import: reads a file, or standard input, with one conversation per line, and parses each. Prints their number.
import { createReadStream } from 'node:fs';

const [path = '-'] = process.argv.slice(2);
const input = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 });
let count = 0;
let parts = [];
const parse = (line) => {
  const begin = line[0] === 0x5b ? 1 : 0;
  const last = line.at(-1);
  const text = line.toString('utf8', begin, last === 0x2c || last === 0x5d ? line.length - 1 : line.length);
  if (JSON.parse(text).mapping !== undefined) count += 1;
};
for await (const chunk of input) {
  let from = 0;
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
    parts.push(chunk.subarray(from, end));
    parse(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    parts = [];
    from = end + 1;
  }
  parts.push(chunk.subarray(from));
}
parse(Buffer.concat(parts));
process.stdout.write(`${count}\n`);
