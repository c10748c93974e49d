import { scramVerifier } from "@venuewatch/embedded-timescaledb/scram";
import type { DatabaseError } from "pg";
import { WrongValue } from "../../shared/config/setting-values.js";
import { secretIn } from "../../shared/config/settings.js";
import { type Pool, sql } from "../../shared/database/pool.js";
import { UserError } from "../../shared/process/user-error.js";
import type { Given, Options } from "./command.js";
import { runOnDatabase } from "./on-database.js";
import { optionWord, secretValue } from "./option-values.js";
import { print } from "./print.js";

export const help = `Creates or changes a login of the database server. It gets the rights of its role and no other
rights of venuewatch, the role's limits (sql/database/logins.sql), and the password. It is safe to repeat. The server gets a
verifier, never the password itself. DATABASE_URL must be that of the user that migrates: a superuser, or a user with
CREATEROLE. For a user with CREATEROLE it prints the statements that an administrator must run.

probe, core, web: for the programs of these names. analyst: for people with psql. replica: for a server that replicates
this one, or for base backups.`;

const loginRoles = ["probe", "core", "web", "analyst", "replica"] as const;

export const words = ["NAME"];

export const options = {
  role: { type: "string", help: loginRoles.join(", ") },
  "password-file": {
    type: "string",
    help: "file with the password: 12 to 200 ASCII characters, no spaces; - reads it from standard input",
  },
  connections: {
    type: "string",
    help: "maximum number of connections (default: by role, 5 to 30)",
  },
  region: { type: "string", help: "probe: the region whose samples it delivers, as in the registry" },
  "own-schema": {
    type: "boolean",
    help: "analyst: also a schema of the login's name to write in, for dbt and the like",
  },
  json: { type: "boolean", help: "print JSON" },
} satisfies Options;

export async function run({ values, words }: Given): Promise<void> {
  const given = values as Partial<Record<keyof typeof options, string>>;
  const login = loginName(words[0]!);
  if (given.role === undefined)
    throw new UserError(`login: --role is missing; expected one of ${loginRoles.join(", ")}`);
  const role = optionWord("--role", loginRoles, given.role);
  const connections = connectionsOf(given.connections);
  const ownSchema = values["own-schema"] === true;
  if (ownSchema && role !== "analyst")
    throw new UserError(`login: expected --own-schema only with --role analyst, got it with ${role}`);
  const region = regionOf(role, given.region);
  const verifier = scramVerifier(await passwordOf(given["password-file"]));
  await runOnDatabase("login", async ({ pool, settings }) => {
    if (settings.databaseUrl === null)
      throw new UserError(
        "login: DATABASE_URL is not set, and the embedded database can have no more logins; set DATABASE_URL to a server, or use the embedded database's own login for analysts, vw_analyst.pgpass in DATA_DIR",
      );
    const [created] = await pool
      .file<CreatedLogin>("store_login", [login, role, verifier, connections, ownSchema, region])
      .catch(async (error: unknown) => {
        throw (await refusalOf(pool, { login, role, connections, ownSchema }, error)) ?? error;
      });
    print(
      values["json"],
      { login, role, ...(region !== null && { region }), ...created },
      createdText(login, role, created!, ownSchema, region),
    );
  });
}

function regionOf(role: (typeof loginRoles)[number], region: string | undefined): string | null {
  if (role !== "probe" && region !== undefined)
    throw new UserError(`login: expected --region only with --role probe, got it with ${role}`);
  if (role !== "probe") return null;
  if (region === undefined)
    throw new UserError("login: --region is missing; a probe's login delivers samples of one region, its REGION");
  if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(region)) return region;
  throw new UserError(
    `login: expected --region with the id of a region, such as eu-central, got ${JSON.stringify(region.slice(0, 80))}`,
  );
}

interface Wanted {
  login: string;
  role: string;
  connections: number | null;
  ownSchema: boolean;
}

interface CreatedLogin {
  connections: number;
  /** Statements that a superuser must run. */
  leftToSuperuser: string[];
}

/** A name that needs no quoting in addresses, and in SQL only for its hyphens. */
function loginName(word: string): string {
  if (/^[a-z][a-z0-9_-]{0,62}$/.test(word)) return word;
  throw new UserError(
    `login: expected a name of lower-case letters, digits, _ and -, at most 63 characters, got ${JSON.stringify(word.slice(0, 80))}`,
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
  // with other characters clients may normalise the password differently, and the login fails
  if (!/^[\x21-\x7e]{12,200}$/.test(password))
    throw new UserError(
      "--password-file: expected a password of 12 to 200 ASCII characters without spaces, got another; openssl rand -hex 32 makes one",
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

/** Errors of this command that the user can correct. */
async function refusalOf(pool: Pool, wanted: Wanted, error: unknown): Promise<UserError | null> {
  const { login } = wanted;
  const { code, message, hint } = error as Partial<DatabaseError>;
  if (code === "42P06") return new UserError(`login: ${message}; choose another name`, { cause: error });
  if (code === "42939")
    return new UserError(`login: ${login} cannot be used, ${message}; choose another name`, {
      cause: error,
    });
  if (code === "42501") {
    const statements = await statementsFor(pool, wanted);
    return new UserError(
      `login: DATABASE_URL's user lacks a right (${message}). Ask an administrator for: ${statements.join("; ")}; ` +
        `and set its password with \\password ${login} in psql. sql/database/superuser.sql sets the limits`,
      { cause: error },
    );
  }
  if (code === "2BP01")
    return new UserError(
      `login: ${message}, which DATABASE_URL's user cannot revoke. Ask an administrator for: ${hint}; then run this command again`,
      { cause: error },
    );
  if (code === "3F000")
    return new UserError("login: the database was not migrated with this build; run venuewatch migrate first", {
      cause: error,
    });
  return null;
}

/** The order is that of `logins.keep`. */
async function statementsFor(pool: Pool, { login, role, connections, ownSchema }: Wanted): Promise<string[]> {
  const [found] = await pool.query<{ here: boolean; limit: number }>(sql`
    select to_regrole(quote_ident(${login})) is not null as here, coalesce(${connections}::int, logins.connections_of(${role})) as limit
  `);
  const name = login.includes("-") ? `"${login}"` : login;
  const create = `${found!.here ? "alter" : "create"} role ${name} login`;
  const limit = `connection limit ${found!.limit}`;
  if (role === "replica") return [`${create} replication ${limit}`];
  const schema = [
    `create schema if not exists ${name}`,
    `grant create on schema ${name} to ${name}`,
    `grant usage on schema ${name} to ${name} with grant option`,
    `alter role ${name} reset default_transaction_read_only`,
  ];
  return [`${create} ${limit}`, `grant vw_${role} to ${name}`, ...(ownSchema ? schema : [])];
}

function createdText(login: string, role: string, created: CreatedLogin, ownSchema: boolean, region: string | null) {
  const { connections, leftToSuperuser: left } = created;
  const schema = ownSchema ? ", and may write in the schema of its name" : "";
  const place = region === null ? "" : ` for the region ${region}`;
  const done = `${login} is a login of role ${role}${place}, with at most ${connections} connections${schema}\n`;
  if (left.length === 0) return done;
  return `${done}These limits need a superuser; ask an administrator for:\n${left.map((one) => `  ${one};\n`).join("")}`;
}
