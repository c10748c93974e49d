import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Returns an embedded database's address for one of its logins, with the password from its file. */
export async function guestUrl(ownerUrl: string, dataDir: string, login = "guest"): Promise<string> {
  const line = await readFile(join(dataDir, `${login}.pgpass`), "utf8");
  const url = new URL(ownerUrl);
  url.username = login;
  url.password = line.trim().split(":").at(-1)!;
  return url.href;
}
