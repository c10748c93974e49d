/**
 * The settings of every program: environment variables, read here and nowhere
 * else, once, into a frozen value. A variable that is set to nothing counts as
 * not set. The table of settings in docs/settings.md is checked against `settingTable`.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { addressOf, loopback } from "./address.js";
import { addressesOf, withPassword } from "../database/hosts.js";
import { ownerPasswordFile } from "./embedded-passwords.js";
import type { LogLevel } from "../log/log.js";
import { maskedAddress } from "../text/masked-text.js";
import { packagedFile } from "./package.js";
import { secretIn } from "./secret-file.js";
import { type Service, services } from "./service.js";
import {
  parseDatabaseReadUrl,
  parseDatabaseUrl,
  parseHost,
  parseKey,
  parseLogLevel,
  parsePath,
  parsePort,
  parseProxies,
  parseRate,
  parseRegion,
  parseRegions,
  parseSiteUrl,
  parseSwitch,
  parseVantage,
  WrongValue,
} from "./setting-values.js";
import { UserError } from "../process/user-error.js";
import type { Vantage } from "./vantage.js";

export interface Settings {
  /** Null: the embedded database in `dataDir`. With its password, wherever that came from: never to be shown. */
  readonly databaseUrl: string | null;
  /** Null: `databaseUrl` serves for reading too. With its password. */
  readonly databaseReadUrl: string | null;
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path. */
  readonly registry: string;
  /** Null where none is set; a probe cannot do without. */
  readonly region: string | null;
  /** Null where the operator does not say. */
  readonly vantage: Vantage | null;
  /** Null: all of the registry's. */
  readonly regions: readonly string[] | null;
  readonly port: number;
  /** IP address on which the public API listens. */
  readonly host: string;
  /** IP address on which health and own metrics listen, of every program. */
  readonly healthHost: string;
  /** By program: where it is not set, each has another, so that one of each fits on one machine. */
  readonly healthPort: Readonly<Record<Service, number>>;
  readonly embeddedPort: number;
  /** Without a slash at the end. */
  readonly siteUrl: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Requests a minute per client address; 0: no limit. */
  readonly rateLimit: number;
  /** Addresses, networks and names as Express' `trust proxy` takes them. */
  readonly trustProxy: readonly string[];
  /** 32 bytes; null where none is set. Never to be shown. */
  readonly channelKey: Buffer | null;
  readonly alertLoopback: boolean;
  readonly logLevel: LogLevel;
}

interface Setting {
  name: string;
  /** As docs/settings.md shows it. */
  default: string;
  meaning: string;
}

export const settingTable = [
  {
    name: "DATABASE_URL",
    default: "the embedded database",
    meaning:
      "`postgres://` address of a PostgreSQL 15+ server with TimescaleDB; separate the `host:port` of a cluster by commas, and the writable one is used; unset: the embedded database in `DATA_DIR`",
  },
  {
    name: "DATABASE_READ_URL",
    default: "`DATABASE_URL`",
    meaning: "address of a replica that the web program reads from; with several hosts, the first one that answers",
  },
  {
    name: "DATABASE_PASSWORD_FILE",
    default: "none",
    meaning:
      "file with the password for `DATABASE_URL`, which must then contain none, and for `DATABASE_READ_URL` if that contains none: a replica has its primary's logins",
  },
  {
    name: "DATABASE_READ_PASSWORD_FILE",
    default: "`DATABASE_PASSWORD_FILE`",
    meaning: "file with the password for `DATABASE_READ_URL`",
  },
  {
    name: "DATA_DIR",
    default: "`./data`",
    meaning: "directory of the embedded database and of everything else that is stored",
  },
  {
    name: "REGISTRY",
    default: "`./registry.json`",
    meaning: "file of venues and regions; if there is none, the one that comes with the package",
  },
  {
    name: "REGION",
    default: "none",
    meaning: "region of a probe; required for `probe`",
  },
  {
    name: "VANTAGE",
    default: "none",
    meaning:
      "where a probe is, which `/v1/regions` publishes: name, place and network, separated by commas, such as `fra1, Frankfurt, Hetzner AS24940`",
  },
  {
    name: "REGIONS",
    default: "all of the registry",
    meaning: "regions for which `up` starts one probe each, separated by commas",
  },
  { name: "PORT", default: "`8080`", meaning: "port of the public API" },
  {
    name: "HOST",
    default: "`127.0.0.1`",
    meaning:
      "IP address on which the public API listens: by default only this machine reaches it; `0.0.0.0` is every IPv4 address of the machine, `::` every address",
  },
  {
    name: "HEALTH_PORT",
    default: "`PORT` + 1, 2, 3",
    meaning:
      "port of a program's `/healthz`, `/readyz` and own `/metrics`, for operators: + 1 core, + 2 web, + 3 a probe; with `up` each program has one, counting up: core, the probes, web",
  },
  {
    name: "HEALTH_HOST",
    default: "`127.0.0.1`",
    meaning:
      "IP address on which `HEALTH_PORT` listens; it needs no token, so choose one that only Prometheus and operators can reach",
  },
  {
    name: "EMBEDDED_PORT",
    default: "`5433`",
    meaning: "port of the embedded database, on the loopback address",
  },
  {
    name: "SITE_URL",
    default: "`BASE_URL`",
    meaning:
      "address of the site about the service; probes send it to venues, and answers link to `/methodology`, `/rulebook`, `/checking`, `/comparing` and `/changelog` below it, which the API also serves",
  },
  {
    name: "BASE_URL",
    default: "`http://localhost:PORT`",
    meaning:
      "public address of the API; if `HOST` is set, its address is the default. Core stores it in the database for `channel test` and `delivery replay`",
  },
  {
    name: "RATE_LIMIT",
    default: "`120`",
    meaning: "requests a minute per client address; `0` turns the limit off",
  },
  {
    name: "TRUST_PROXY",
    default: "none",
    meaning:
      "proxies whose `X-Forwarded-For` is trusted: addresses, networks, `loopback`, `linklocal`, `uniquelocal`, separated by commas",
  },
  {
    name: "CHANNEL_KEY",
    default: "none",
    meaning:
      "32 bytes as base64, the key that encrypts channels' URLs and secrets; alerts need it, in core and in `channel`; `openssl rand -base64 32` makes one",
  },
  {
    name: "CHANNEL_KEY_FILE",
    default: "none",
    meaning: "file with the `CHANNEL_KEY`, instead of the setting",
  },
  {
    name: "ALERT_LOOPBACK",
    default: "`off`",
    meaning: "for tests and trials: with `on`, alerts may go to addresses of this machine, also over http",
  },
  {
    name: "LOG_LEVEL",
    default: "`info`",
    meaning: "lowest level that is logged: `debug`, `info`, `warn`, `error`",
  },
] as const satisfies Setting[];

export type SettingName = (typeof settingTable)[number]["name"];

type Environment = Record<string, string | undefined>;

/** @throws UserError that names every problem, one a line */
export function readSettings(env: Environment = process.env): Settings {
  const problems = unknownSettings(env);

  function read<T, U>(name: SettingName, parse: (text: string) => T, unset: U) {
    const text = env[name];
    if (text === undefined || text === "") return unset;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      problems.push(problemOf(name, text, error));
      return unset;
    }
  }

  const port = read("PORT", parsePort, 8080);
  const healthPort = healthPorts(port, read("HEALTH_PORT", parsePort, null));
  if (Math.max(...Object.values(healthPort)) > 65_535)
    problems.push(
      `HEALTH_PORT: would be up to PORT + ${services.length} = ${port + services.length}, which is no port; set it, or set a lower PORT`,
    );
  const host = read("HOST", parseHost, loopback);
  const baseUrl = read("BASE_URL", parseSiteUrl, addressOf(host, port));

  const password = read("DATABASE_PASSWORD_FILE", secretIn, null);
  const readPassword = read("DATABASE_READ_PASSWORD_FILE", secretIn, null);
  const url = read("DATABASE_URL", parseDatabaseUrl, null);
  const readUrl = read("DATABASE_READ_URL", parseDatabaseReadUrl, null);

  const settings: Settings = {
    databaseUrl: url && withPassword(url, password),
    databaseReadUrl: readUrl && withPassword(readUrl, readPassword ?? password),
    dataDir: read("DATA_DIR", parsePath, resolve("data")),
    registry: read("REGISTRY", parsePath, defaultRegistry()),
    region: read("REGION", parseRegion, null),
    vantage: read("VANTAGE", parseVantage, null),
    regions: read("REGIONS", parseRegions, null),
    port,
    host,
    healthPort,
    healthHost: read("HEALTH_HOST", parseHost, loopback),
    embeddedPort: read("EMBEDDED_PORT", parsePort, 5433),
    siteUrl: read("SITE_URL", parseSiteUrl, baseUrl),
    baseUrl,
    rateLimit: read("RATE_LIMIT", parseRate, 120),
    trustProxy: read("TRUST_PROXY", parseProxies, Object.freeze([])),
    channelKey:
      read("CHANNEL_KEY", parseKey, null) ?? read("CHANNEL_KEY_FILE", (path) => parseKey(secretIn(path)), null),
    alertLoopback: read("ALERT_LOOPBACK", parseSwitch, false),
    logLevel: read("LOG_LEVEL", parseLogLevel, "info"),
  };
  if (settings.databaseReadUrl !== null && !env["DATABASE_URL"])
    problems.push("DATABASE_READ_URL: is a replica of DATABASE_URL, which is not set; set both or neither");
  problems.push(...contradictions(env));
  if (problems.length > 0) throw new UserError(allProblems(problems));
  return Object.freeze(settings);
}

/** A secret that is given twice, of which one would be without effect, and a password of nothing. */
function contradictions(env: Environment): string[] {
  const problems: string[] = [];
  for (const [name, file] of [
    ["DATABASE_URL", "DATABASE_PASSWORD_FILE"],
    ["DATABASE_READ_URL", "DATABASE_READ_PASSWORD_FILE"],
  ] as const) {
    if (!env[file]) continue;
    const [url = ""] = addressesOf(env[name] ?? "");
    if (url === "") problems.push(`${file}: holds the password for ${name}, which is not set; set both or neither`);
    else if (URL.canParse(url) && new URL(url).password !== "")
      problems.push(`${file}: ${name} has a password itself; take it out of there, or unset ${file}`);
    else if (URL.canParse(url) && new URL(url).hostname === "")
      problems.push(
        `${file}: ${name} names no host, and no password can be put into such an address; name one, or unset ${file}`,
      );
  }
  if (env["CHANNEL_KEY"] && env["CHANNEL_KEY_FILE"])
    problems.push("CHANNEL_KEY_FILE: CHANNEL_KEY is set too; unset one of them");
  return problems;
}

/** @param set null: each has its own; 0 stays 0, any free one */
function healthPorts(port: number, set: number | null): Settings["healthPort"] {
  const ports = services.map((service, i) => {
    return [service, set ?? (port === 0 ? 0 : port + 1 + i)];
  });
  return Object.freeze(Object.fromEntries(ports) as Settings["healthPort"]);
}

/** Where the database is: the one that is named, or the embedded one. With its password: never to be shown. */
export function databaseUrlOf(settings: Settings): string {
  const { databaseUrl, dataDir, embeddedPort } = settings;
  if (databaseUrl !== null) return databaseUrl;
  return withPassword(embeddedUrl(embeddedPort), embeddedPassword(dataDir));
}

/**
 * Null where the embedded database was never started: there is nothing to connect to either, and the error says so.
 *
 * @throws UserError where the file cannot be read, by another user above all
 */
function embeddedPassword(dataDir: string): string | null {
  const file = ownerPasswordFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    return secretIn(file);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new UserError(
      `${file}, the password of the embedded database: expected ${error.expected}; run this as the user who runs the database, or set DATABASE_URL`,
      { cause: error },
    );
  }
}

/**
 * The key that channels' URLs and secrets are encrypted with.
 *
 * @throws UserError when none is set
 */
export function channelKeyOf(settings: Settings): Buffer {
  if (settings.channelKey !== null) return settings.channelKey;
  throw new UserError(
    "CHANNEL_KEY is not set, and without it nothing secret is kept or read: make one by openssl rand -base64 32, keep it safe, and set it, or CHANNEL_KEY_FILE, for core and for this command",
  );
}

/** Of its owner, without the password. */
export function embeddedUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/template1`;
}

/** The environment for a program that this one starts: our own, some settings changed. */
export function environmentWith(changes: Partial<Record<SettingName, string>>): Environment {
  return { ...process.env, ...changes };
}

/** How many threads Node has for files and look-ups: no setting of ours, and to be told before it starts. */
export function threadsOfNode(env: Environment = process.env): number {
  return Number(env.UV_THREADPOOL_SIZE) || 4;
}

/** A misspelt setting would be silently without effect; under our own prefix nothing else can be meant. */
function unknownSettings(env: Environment): string[] {
  const prefix = "VENUEWATCH_";
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix))
    .map((name) => {
      const bare = name.slice(prefix.length);
      const known = settingTable.some((setting) => setting.name === bare);
      return known
        ? `${name}: settings have no prefix; set ${bare} instead`
        : `${name}: there is no such setting; unset it (docs/settings.md lists all settings, none has this prefix)`;
    });
}

function problemOf(name: SettingName, text: string, wrong: WrongValue) {
  const came = wrong.secret ? "something else" : JSON.stringify(maskedAddress(text));
  return `${name}: expected ${wrong.expected}, got ${came}; correct it, or unset it for the default`;
}

function allProblems(problems: string[]): string {
  return ["wrong settings in the environment:", ...problems].join("\n  ");
}

function defaultRegistry(): string {
  const own = resolve("registry.json");
  return existsSync(own) ? own : packagedFile("registry.json");
}
