import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Returns an embedded database's address for its login `guest`, with the password from its file. */
export async function guestUrl(ownerUrl: string, dataDir: string): Promise<string> {
  const line = await readFile(join(dataDir, "guest.pgpass"), "utf8");
  const url = new URL(ownerUrl);
  url.username = "guest";
  url.password = line.trim().split(":").at(-1)!;
  return url.href;
}
