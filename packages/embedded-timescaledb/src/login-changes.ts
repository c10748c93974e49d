/**
 * Notices changes of logins and their passwords, whichever statement makes them.
 *
 * The host keeps the verifiers of all logins, so that start-ups cost the backend nothing. PostgreSQL itself keeps rows
 * of pg_authid, in a cache that calls back when one becomes invalid: within the transaction that changes it, and again
 * if that is rolled back.
 */

/** The part of the module that we need. */
export interface CacheModule {
  addFunction(call: (...words: number[]) => void, signature: string): number;
  _CacheRegisterSyscacheCallback(cache: number, call: number, argument: number): void;
}

export interface LoginChanges {
  /** Whether a login may have changed since the last call. */
  seen(): boolean;
}

/** AUTHOID of PostgreSQL 17: pg_authid by its oid. */
const rolesByOid = 11;

export function watchLogins(module: CacheModule): LoginChanges {
  let isChanged = false;
  const note = module.addFunction(() => {
    isChanged = true;
  }, "viii");
  module._CacheRegisterSyscacheCallback(rolesByOid, note, 0);
  return {
    seen() {
      const wasChanged = isChanged;
      isChanged = false;
      return wasChanged;
    },
  };
}
