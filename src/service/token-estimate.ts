// The estimated number of tokens of a text; only the tokenizer of a model knows the true number. The estimate counts three bytes of UTF-8
// as a token. That is more tokens than most tokenizers make of English (four to five bytes each), about as many as they make of code, and
// right for scripts of three bytes a character.

const bytesOfToken = 3;
/** Tokens that a chat template adds around each message. */
const frameTokens = 4;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesOfToken);
}

/** The tokens of a message whose text has `textTokens`. */
export function messageTokens(textTokens: number): number {
  return textTokens + frameTokens;
}
