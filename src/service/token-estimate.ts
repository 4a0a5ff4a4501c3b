// How many tokens a text has, estimated: only a model's own tokenizer knows. Three bytes of UTF-8 to a token is a little more than
// most tokenizers make of English (four to five bytes), about what they make of code, and right for scripts of three bytes a character.

const bytesOfToken = 3;
/** What a chat template adds around each message. */
const frameTokens = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesOfToken);
}

/** Of a message whose text has so many tokens. */
export function messageTokens(textTokens: number): number {
  return textTokens + frameTokens;
}
