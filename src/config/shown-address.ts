// The address of a server or of a store as it may be shown: without the secrets that a user may have written into the configuration.

/**
 * Hides the password of a store. A password may be a reference, which is shown. Of a server, the whole user information and the query are
 * hidden, because the URL of a profile has neither.
 */
export function shownAddress(address: string): string {
  if (/^https?:/i.test(address)) {
    // In a text that is not a URL, the password may contain a slash or a question mark.
    const userInformation = URL.canParse(address) ? /^(https?:\/\/)[^/?#]*@/i : /^(https?:\/\/).*@/is;
    return address.replace(userInformation, '$1…@').replace(/([?#]).*$/s, '$1…');
  }
  return address
    .replace(/^([^:]+:\/\/[^:@]*):.*@/s, '$1:…@')
    .replace(/([?&]password=)(?!env:|file:|command:)[^&]*/g, '$1…');
}
