import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import pg from "pg";
import t from "tap";

import { databaseFault } from "../server/database-fault.js";
import { UserError } from "../server/user-error.js";

void t.test(
  "a database that is not there is told in a sentence, its password is not",
  async (t) => {
    // tcpmux, which nobody serves; a free port might be taken by a test beside this one
    const port = 1;
    const url = `postgres://me:hunter2@127.0.0.1:${port}/venues`;
    const fault = databaseFault(await errorOfConnecting(url), url);
    t.type(fault, UserError);
    t.equal(
      fault?.message,
      `the database 127.0.0.1:${port}/venues cannot be used (ECONNREFUSED): nothing listens there; start it, or correct DATABASE_URL`,
    );
  },
);

void t.test(
  "a server that accepts and says nothing is told after the timeout",
  async (t) => {
    const server = createServer().listen(0, "127.0.0.1");
    t.teardown(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `postgres://me:x@127.0.0.1:${port}/venues`;
    t.match(databaseFault(await errorOfConnecting(url, 200), url), {
      message: /cannot be used \(ETIMEDOUT\): it does not answer/,
    });
  },
);

void t.test("a refusal of the server is told by its SQLSTATE", (t) => {
  const error = Object.assign(new Error("no"), { code: "3D000" });
  t.match(databaseFault(error, "postgres://db/venues"), {
    message:
      "the database db/venues cannot be used (3D000): it has no database of that name; create it, or correct DATABASE_URL",
  });
  t.end();
});

void t.test("any other error stays what it is", (t) => {
  const url = "postgres://db/venues";
  t.equal(databaseFault(new Error("oops"), url), null);
  const syntax = Object.assign(new Error("syntax"), { code: "42601" });
  t.equal(databaseFault(syntax, url), null);
  t.end();
});

async function errorOfConnecting(
  url: string,
  withinMs = 10_000,
): Promise<unknown> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: withinMs,
  });
  try {
    await client.connect();
  } catch (error) {
    return error;
  }
  throw new Error(`connected to ${url}`);
}
