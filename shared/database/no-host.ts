/** None of several hosts could be used; the message has the reason for each. */
export class NoHost extends Error {}
