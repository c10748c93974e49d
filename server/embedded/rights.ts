/**
 * With whose rights the backend does statements.
 *
 * The one backend has started as a superuser, who may become anybody: SET SESSION AUTHORIZATION alone would be undone
 * by any client, in a DO block if need be. PostgreSQL has a state for that. Within a SECURITY DEFINER function it
 * refuses whatever would change the role or the session's user, in whichever way it is asked. A client's turn is put
 * into that state from outside, where no SQL reaches.
 */

/** What we need of the module: functions and addresses that TimescaleDB, being a library of its own, needs as well. */
export interface RightsOfModule {
  _SetUserIdAndSecContext(role: number, context: number): void;
}

/** BOOTSTRAP_SUPERUSERID */
const owner = 10;
/** SECURITY_LOCAL_USERID_CHANGE */
const roleIsFixed = 1;

/**
 * Until `unfix` statements have the rights of this role alone. PostgreSQL brings both back when a transaction or a
 * function ends. To be called between transactions, when the role is that of the session.
 */
export function fixRole(module: RightsOfModule, role: number): void {
  module._SetUserIdAndSecContext(role, roleIsFixed);
}

/** To be called between transactions. */
export function unfixRole(module: RightsOfModule): void {
  module._SetUserIdAndSecContext(owner, 0);
}
