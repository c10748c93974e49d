/** A text from a user's file as it may be logged: of addresses in it, names and passwords of users are masked. */
export function masked(text: string): string {
  // up to the last @: a password may have slashes and more of that sign
  return text.replace(/:\/\/[^"\s]*@/g, "://***@");
}
