// A standard stream that is only a string.
import { Writable } from 'node:stream';

export interface StringStream<Facts extends object> {
  readonly stream: Writable & Facts;
  text(): string;
}

/** `facts` are its properties, such as `isTTY` and `columns`. */
export function stringStream<Facts extends object>(facts: Facts): StringStream<Facts> {
  const parts: string[] = [];
  const writable = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, taken) {
      parts.push(chunk);
      taken();
    },
  });
  return { stream: Object.assign(writable, facts), text: () => parts.join('') };
}
