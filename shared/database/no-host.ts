/** Why each of several hosts could not be used, as a list. */
export class NoHost extends Error {}
