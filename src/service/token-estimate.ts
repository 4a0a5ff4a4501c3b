// Estimates the tokens of a text; only a model's tokenizer knows the true number. The estimate counts one token for three bytes of UTF-8.
// Most tokenizers make fewer tokens of English (one for four to five bytes), about as many of code, and as many of scripts with three bytes
// per character.

const bytesOfToken = 3;
/** Tokens that a chat template adds around each message. */
const frameTokens = 4;

/** The estimated tokens of a text, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesOfToken);
}

/** The tokens of a message whose text has `textTokens`. */
export function messageTokens(textTokens: number): number {
  return textTokens + frameTokens;
}
