// The scripts written without spaces, as a character class in the syntax that SQL's GLOB and regular expressions share. The rules of a
// search and the index of a store use the same class.

export const unspaced =
  '[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fff\u3005-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\u{20000}-\u{3fffd}]';
