/**
 * Limits the rights with which the backend executes statements.
 *
 * The only backend was started as a superuser, who may become any user. SET SESSION AUTHORIZATION alone does not
 * suffice: any client could undo it, for example in a DO block. PostgreSQL has a state that prevents this: within a
 * SECURITY DEFINER function it refuses every statement and function that would change the role or the session user. We
 * put the turn of every client that is no superuser into that state from outside, where no SQL can undo it.
 */

/** The part of the module that we need. It is exported because TimescaleDB, a separate library, needs it as well. */
export interface RightsOfModule {
  _SetUserIdAndSecContext(role: number, context: number): void;
}

/** BOOTSTRAP_SUPERUSERID */
const owner = 10;
/** SECURITY_LOCAL_USERID_CHANGE */
const roleIsFixed = 1;

/**
 * Gives statements the rights of this role only, until `unfixRole`. PostgreSQL restores both the role and the state
 * when a transaction or a function ends. To be called between transactions, when the role is that of the session.
 */
export function fixRole(module: RightsOfModule, role: number): void {
  module._SetUserIdAndSecContext(role, roleIsFixed);
}

/** To be called between transactions. */
export function unfixRole(module: RightsOfModule): void {
  module._SetUserIdAndSecContext(owner, 0);
}
