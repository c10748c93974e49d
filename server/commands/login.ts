import type { DatabaseError } from "pg";
import type { Given, Options } from "../cli/command.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import { runOnDatabase } from "../cli/on-database.js";
import { scramVerifier } from "../database/scram.js";
import { secretIn } from "../../shared/config/secret-file.js";
import { WrongValue } from "../../shared/config/setting-values.js";
import { UserError } from "../../shared/process/user-error.js";
import { oneOf } from "./one-of.js";
import { print } from "./print.js";
import { secretValue } from "./secret-value.js";

export const help = `Makes a login of the database server, or changes it: afterwards it has the rights of its role and no others of ours, the limits
that are meant for it (sql/logins.sql), and the password. Safe to repeat. The server gets what it needs to know the password by, and
never the password. With a DATABASE_URL of the user that migrates: a superuser, or a user with CREATEROLE. What takes a
superuser then is printed, to ask an administrator for.

probe, core, web: for the programs of these names. analyst: for people, by psql. replica: for a server that replicates this one, or
for base backups of it.`;

const kinds = ["probe", "core", "web", "analyst", "replica"] as const;

export const words = ["NAME"];

export const options = {
  role: { type: "string", help: kinds.join(", ") },
  "password-file": {
    type: "string",
    help: "file with the password: 12 to 200 characters of ASCII, no spaces; - reads it from standard input",
  },
  connections: {
    type: "string",
    help: "how many it may have at once (default: by its role, 5 to 30)",
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words }: Given): Promise<void> {
  const given = values as Partial<Record<keyof typeof options, string>>;
  const login = loginName(words[0]!);
  if (given.role === undefined) throw new UserError(`login: --role is missing; it takes ${kinds.join(", ")}`);
  const role = oneOf("--role", kinds, given.role);
  const connections = connectionsOf(given.connections);
  const verifier = scramVerifier(await passwordOf(given["password-file"]));
  await runOnDatabase("login", async ({ pool, settings }) => {
    if (settings.databaseUrl === null)
      throw new UserError(
        "login: the embedded database has a login of its own for analysts, whose password DATA_DIR keeps in vw_analyst.pgpass, and no others; set DATABASE_URL to a server's",
      );
    const [kept] = await pool
      .file<Kept>("keep_login", [login, role, verifier, connections])
      .catch(async (error: unknown) => {
        throw (await refusalOf(pool, { login, role, connections }, error)) ?? error;
      });
    print(values["json"], { login, role, ...kept }, told(login, role, kept!));
  });
}

interface Wanted {
  login: string;
  role: string;
  connections: number | null;
}

interface Kept {
  connections: number;
  /** Statements. */
  leftToSuperuser: string[];
}

/** What needs no quotes anywhere, in addresses neither. */
function loginName(word: string): string {
  if (/^[a-z][a-z0-9_]{0,62}$/.test(word)) return word;
  throw new UserError(
    `login: expected a name of small letters, digits and _, at most 63, got ${JSON.stringify(word.slice(0, 80))}`,
  );
}

function connectionsOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UserError(`--connections: expected a whole number from 1 to 9999, got ${JSON.stringify(text)}`);
}

async function passwordOf(file: string | undefined): Promise<string> {
  if (file === undefined)
    throw new UserError(
      "login: --password-file is missing; openssl rand -hex 32 makes a password, and - reads it from standard input",
    );
  const password = file === "-" ? await secretValue("--password-file", file) : inFile(file);
  // programs agree on how to sign in with other characters only where all of them prepare them alike
  if (!/^[\x21-\x7e]{12,200}$/.test(password))
    throw new UserError(
      "--password-file: expected a password of 12 to 200 characters of ASCII without spaces, got another; openssl rand -hex 32 makes one",
    );
  return password;
}

function inFile(path: string): string {
  try {
    return secretIn(path);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new UserError(`--password-file: expected ${error.expected}, got ${JSON.stringify(path)}`);
  }
}

/** What the user can put right, besides what any command's user can. */
async function refusalOf(pool: Pool, wanted: Wanted, error: unknown): Promise<UserError | null> {
  const { login } = wanted;
  const { code, message, hint } = error as Partial<DatabaseError>;
  if (code === "42939")
    return new UserError(`login: ${login} cannot be a login of ours, ${message}; choose another name`, {
      cause: error,
    });
  if (code === "42501") {
    const statements = await statementsFor(pool, wanted);
    return new UserError(
      `login: DATABASE_URL's user may not do this (${message}). Ask an administrator for: ${statements.join("; ")}; ` +
        `and set its password by \\password ${login} in psql. sql/superuser.sql sets its limits`,
      { cause: error },
    );
  }
  if (code === "2BP01")
    return new UserError(
      `login: ${message}, which DATABASE_URL's user cannot revoke. Ask an administrator for: ${hint}; and run this command again`,
      { cause: error },
    );
  if (code === "3F000")
    return new UserError("login: the database was not migrated by this build; run venuewatch migrate first", {
      cause: error,
    });
  return null;
}

async function statementsFor(pool: Pool, { login, role, connections }: Wanted): Promise<string[]> {
  const [found] = await pool.query<{ here: boolean; limit: number }>(sql`
    select to_regrole(${login}) is not null as here, coalesce(${connections}::int, logins.connections_of(${role})) as limit
  `);
  const made = `${found!.here ? "alter" : "create"} role ${login} login`;
  const limit = `connection limit ${found!.limit}`;
  return role === "replica" ? [`${made} replication ${limit}`] : [`${made} ${limit}`, `grant vw_${role} to ${login}`];
}

function told(login: string, role: string, kept: Kept) {
  const { connections, leftToSuperuser: left } = kept;
  const made = `${login} is a login of role ${role}, with at most ${connections} connections\n`;
  if (left.length === 0) return made;
  return `${made}These limits take a superuser; ask an administrator for:\n${left.map((one) => `  ${one};\n`).join("")}`;
}
