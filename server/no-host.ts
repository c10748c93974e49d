/** Why each of several hosts could not be used, in a sentence. */
export class NoHost extends Error {}
