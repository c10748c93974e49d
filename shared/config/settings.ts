/**
 * The settings of all programs: environment variables, read only here, once, into a frozen value. An empty variable
 * counts as not set. A test compares the table in docs/settings.md with `settingTable`.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { addressesOf, withPassword } from "../database/address.js";
import type { LogLevel } from "../log/log.js";
import { UserError } from "../process/user-error.js";
import { maskedAddress } from "../text/secrets.js";
import {
  type Brand,
  type BrandSettings,
  ownBrand,
  parseAccent,
  parseContact,
  parseSiteLinks,
  parseSiteName,
  parseSitePage,
  readLogo,
  readStyleSheet,
} from "./brand.js";
import { ownerPasswordFile } from "./embedded-passwords.js";
import { packagedFile, type Service, serviceNames } from "./package.js";
import {
  addressOf,
  loopbackAddress,
  parseCount,
  parseCredential,
  parseDatabaseReadUrl,
  parseDatabaseUrl,
  parseHost,
  parseKey,
  parseLogLevel,
  parseNotice,
  parseFilePath,
  parsePort,
  parseProxies,
  parseRate,
  parseRegion,
  parseRegions,
  parseSiteUrl,
  parseSwitch,
  parseVantage,
  WrongValue,
  type Vantage,
} from "./setting-values.js";

export interface Settings {
  /** Null: the embedded database in `dataDir`. Contains the password, also one from a file: never show it. */
  readonly databaseUrl: string | null;
  /** Null: `databaseUrl` is also used for reading. Contains the password. */
  readonly databaseReadUrl: string | null;
  /** Absolute path. */
  readonly dataDir: string;
  /** Absolute path; null where not set. */
  readonly baseBackups: string | null;
  /** Absolute path. */
  readonly registry: string;
  /** Null where not set. */
  readonly probesPerAddress: number | null;
  /** Null where not set; required for a probe. */
  readonly region: string | null;
  /** Null where not set. */
  readonly vantage: Vantage | null;
  /** Null: all regions of the registry. */
  readonly regions: readonly string[] | null;
  readonly port: number;
  /** IP address on which the public API listens. */
  readonly host: string;
  /** IP address on which every program's health and own metrics listen. */
  readonly healthHost: string;
  /** By program. Where not set, each program has a different one, so that one of each can run on one machine. */
  readonly healthPort: Readonly<Record<Service, number>>;
  readonly embeddedPort: number;
  /** Without a slash at the end. */
  readonly siteUrl: string;
  /** Shown on every page of the board; null: none. */
  readonly siteNotice: string | null;
  /** The operator's own name, colour and links, and the files of a logo and a style sheet (`brandOf`). */
  readonly look: BrandSettings;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Requests a minute per client address; 0: no limit. */
  readonly rateLimit: number;
  /** Addresses, networks and names in the form of Express' `trust proxy`. */
  readonly trustProxy: readonly string[];
  /** 32 bytes; null where not set. Never show it. */
  readonly channelKey: Buffer | null;
  readonly alertLoopback: boolean;
  readonly logLevel: LogLevel;
}

export type ClientSettings = Pick<Settings, "baseUrl" | "registry" | "probesPerAddress" | "siteUrl" | "logLevel">;

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
      "`postgres://` address of a PostgreSQL server with TimescaleDB; separate the `host:port` of a cluster by commas, and the writable one is used; unset: the embedded database in `DATA_DIR`",
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
    name: "BASE_BACKUPS",
    default: "none",
    meaning:
      "directory with the base backups of the database, of which core exports the age of the newest ([backup.md](backup.md#is-it-working))",
  },
  {
    name: "REGISTRY",
    default: "`registry/default.json`",
    meaning:
      "file of regions and venues; `registry/default.json` (some thirty venues), `registry/exchanges.json` (fifteen exchanges) and `registry/all.json` come with the package, and list ids of its catalogue ([adding-a-venue.md](adding-a-venue.md#your-own-list-of-venues) has the forms)",
  },
  {
    name: "PROBES_PER_ADDRESS",
    default: "`1`",
    meaning:
      "how many probes share a public IP address, and so the limits of venues, which cadences then respect; those of one region count as one, as they share its venues; the same for all programs of a service. `up` counts its own probes",
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
    name: "SITE_NOTICE",
    default: "none",
    meaning: "a sentence of up to 200 characters that the web program shows at the top of its pages",
  },
  {
    name: "SITE_NAME",
    default: "`venuewatch`",
    meaning: "the site's name of up to 60 characters, in headers and titles of pages, in feeds and on cards",
  },
  {
    name: "SITE_LOGO",
    default: "none",
    meaning: "an SVG or PNG file of up to 64 KiB that pages show before the name",
  },
  {
    name: "SITE_LINKS",
    default: "none",
    meaning:
      'up to eight links in the footer of pages and under "Get updates", as `text=address` separated by commas: `News=https://example.org/news, Telegram=https://t.me/example`; `https:`, `http:`, `mailto:` and `tel:`',
  },
  {
    name: "SITE_ACCENT",
    default: "ours",
    meaning:
      "colour of links for the light and the dark scheme, as `#0b57a4,#8ab8f0`; each needs a contrast of 4.5 on its ground",
  },
  {
    name: "SITE_CONTACT",
    default: "none",
    meaning:
      'where readers reach you, such as `mailto:status@example.org`; linked in the footer and under "Get updates"',
  },
  {
    name: "SITE_CSS",
    default: "none",
    meaning: "a style sheet of up to 64 KiB that pages load after ours; it can load nothing from elsewhere",
  },
  { name: "SITE_IMPRINT", default: "none", meaning: "address of your imprint, linked in the footer" },
  { name: "SITE_PRIVACY", default: "none", meaning: "address of your privacy policy, linked in the footer" },
  {
    name: "BASE_URL",
    default: "`http://localhost:PORT`",
    meaning:
      "public address of the API, where `status`, `check` and `mcp` ask, too; if `HOST` is set, its address is the default. Core stores it in the database for `channel test` and `delivery replay`",
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

/** @throws UserError with every problem, one per line */
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
      `HEALTH_PORT: its default goes up to PORT + ${serviceNames.length} = ${port + serviceNames.length}, but ports end at 65535; set it, or set a lower PORT`,
    );
  const host = read("HOST", parseHost, loopbackAddress);
  const baseUrl = read("BASE_URL", parseSiteUrl, addressOf(host, port));

  const password = read("DATABASE_PASSWORD_FILE", secretIn, null);
  const readPassword = read("DATABASE_READ_PASSWORD_FILE", secretIn, null);
  const url = read("DATABASE_URL", parseDatabaseUrl, null);
  const readUrl = read("DATABASE_READ_URL", parseDatabaseReadUrl, null);

  const settings: Settings = {
    databaseUrl: url && withPassword(url, password),
    databaseReadUrl: readUrl && withPassword(readUrl, readPassword ?? password),
    dataDir: read("DATA_DIR", parseFilePath, resolve("data")),
    baseBackups: read("BASE_BACKUPS", parseFilePath, null),
    registry: read("REGISTRY", parseFilePath, packagedFile("registry/default.json")),
    probesPerAddress: read("PROBES_PER_ADDRESS", parseCount, null),
    region: read("REGION", parseRegion, null),
    vantage: read("VANTAGE", parseVantage, null),
    regions: read("REGIONS", parseRegions, null),
    port,
    host,
    healthPort,
    healthHost: read("HEALTH_HOST", parseHost, loopbackAddress),
    embeddedPort: read("EMBEDDED_PORT", parsePort, 5433),
    siteUrl: read("SITE_URL", parseSiteUrl, baseUrl),
    siteNotice: read("SITE_NOTICE", parseNotice, null),
    look: Object.freeze({
      name: read("SITE_NAME", parseSiteName, ownBrand.name),
      logoFile: read("SITE_LOGO", parseFilePath, null),
      links: read("SITE_LINKS", parseSiteLinks, ownBrand.links),
      accent: read("SITE_ACCENT", parseAccent, null),
      contact: read("SITE_CONTACT", parseContact, null),
      cssFile: read("SITE_CSS", parseFilePath, null),
      imprint: read("SITE_IMPRINT", parseSitePage, null),
      privacy: read("SITE_PRIVACY", parseSitePage, null),
    }),
    baseUrl,
    rateLimit: read("RATE_LIMIT", parseRate, 120),
    trustProxy: read("TRUST_PROXY", parseProxies, Object.freeze([])),
    channelKey:
      read("CHANNEL_KEY", parseKey, null) ?? read("CHANNEL_KEY_FILE", (path) => parseKey(secretIn(path)), null),
    alertLoopback: read("ALERT_LOOPBACK", parseSwitch, false),
    logLevel: read("LOG_LEVEL", parseLogLevel, "info"),
  };
  if (settings.databaseReadUrl !== null && !env["DATABASE_URL"])
    problems.push("DATABASE_READ_URL: DATABASE_URL, its primary, is not set; set both or neither");
  problems.push(...contradictionProblems(env));
  if (problems.length > 0) throw new UserError(allProblems(problems));
  return Object.freeze(settings);
}

const clientSettings = ["BASE_URL", "HOST", "PORT", "REGISTRY", "PROBES_PER_ADDRESS", "SITE_URL", "LOG_LEVEL"];

/**
 * The settings of commands that ask a running service. The other settings are not read: they may be wrong without harm.
 *
 * @throws UserError with every problem, one per line
 */
export function readClientSettings(env: Environment = process.env): ClientSettings {
  const isRead = (name: string) => clientSettings.includes(name.replace(/^VENUEWATCH_/, ""));
  return readSettings(Object.fromEntries(Object.entries(env).filter(([name]) => isRead(name))));
}

/** Secrets that are set twice, and passwords without their address. */
function contradictionProblems(env: Environment): string[] {
  const problems: string[] = [];
  for (const [name, file] of [
    ["DATABASE_URL", "DATABASE_PASSWORD_FILE"],
    ["DATABASE_READ_URL", "DATABASE_READ_PASSWORD_FILE"],
  ] as const) {
    if (!env[file]) continue;
    const [url = ""] = addressesOf(env[name] ?? "");
    if (url === "") problems.push(`${file}: ${name}, for which it has the password, is not set; set both or neither`);
    else if (URL.canParse(url) && new URL(url).password !== "")
      problems.push(`${file}: ${name} also contains a password; remove it there, or unset ${file}`);
    else if (URL.canParse(url) && new URL(url).hostname === "")
      problems.push(
        `${file}: ${name} has no host, so the password cannot be added to it; add a host, or unset ${file}`,
      );
  }
  if (env["CHANNEL_KEY"] && env["CHANNEL_KEY_FILE"])
    problems.push("CHANNEL_KEY_FILE: CHANNEL_KEY is also set; unset one of them");
  return problems;
}

/** @param set null: each program has its own default; 0: any free port */
function healthPorts(port: number, set: number | null): Settings["healthPort"] {
  const ports = serviceNames.map((service, i) => {
    return [service, set ?? (port === 0 ? 0 : port + 1 + i)];
  });
  return Object.freeze(Object.fromEntries(ports) as Settings["healthPort"]);
}

/** The address of the configured or the embedded database. Contains the password: never show it. */
export function databaseUrlOf(settings: Settings): string {
  const { databaseUrl, dataDir, embeddedPort } = settings;
  if (databaseUrl !== null) return databaseUrl;
  return withPassword(embeddedUrl(embeddedPort), embeddedPassword(dataDir));
}

/**
 * Null where the embedded database was never started: then connecting fails with a clear error.
 *
 * @throws UserError where the file cannot be read, usually because this is another user
 */
function embeddedPassword(dataDir: string): string | null {
  const file = ownerPasswordFile(dataDir);
  if (!existsSync(file)) return null;
  try {
    return secretIn(file);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new UserError(
      `${file}, the password of the embedded database: expected ${error.expected}; run this as the database's user, or set DATABASE_URL`,
      { cause: error },
    );
  }
}

/**
 * The operator's look with its files. Only for web and for what refuses wrong files before web starts: every other
 * program runs without them.
 *
 * @throws UserError with every file that cannot be used
 */
export function brandOf({ look: { logoFile, cssFile, ...texts } }: Pick<Settings, "look">): Brand {
  const problems: string[] = [];

  function content<T>(name: SettingName, path: string | null, read: (path: string) => T): T | null {
    if (path === null) return null;
    try {
      return read(path);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      problems.push(problemOf(name, path, error));
      return null;
    }
  }

  const logo = content("SITE_LOGO", logoFile, readLogo);
  const css = content("SITE_CSS", cssFile, readStyleSheet);
  if (problems.length > 0) throw new UserError(allProblems(problems));
  return Object.freeze({ ...texts, logo, css });
}

/**
 * The key that encrypts the channels' URLs and secrets.
 *
 * @throws UserError when it is not set
 */
export function channelKeyOf(settings: Settings): Buffer {
  if (settings.channelKey !== null) return settings.channelKey;
  throw new UserError(
    "CHANNEL_KEY is not set; it is required to encrypt and decrypt channel secrets: make one with openssl rand -base64 32, keep it safe, and set it, or CHANNEL_KEY_FILE, for core and for this command",
  );
}

/** The owner's address, without the password. */
export function embeddedUrl(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/template1`;
}

/**
 * A credential that the registry names: the setting, or the only line of the file that the setting with `_FILE` names.
 *
 * @throws WrongValue, which names the setting and never shows a value
 */
export function credentialIn(name: string, env: Environment = process.env): string {
  const file = `${name}_FILE`;
  if (env[name] && env[file]) throw new WrongValue(`${name} or ${file}, but both are set; unset one of them`);
  if (!env[name] && !env[file]) throw new WrongValue(`${name} or ${file}, but neither is set; set one of them`);
  try {
    return parseCredential(env[name] || secretIn(env[file]!));
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new WrongValue(`${env[name] ? name : file} as ${error.expected}`);
  }
}

/** This program's environment with some settings changed, for a child process. */
export function environmentWith(changes: Partial<Record<SettingName, string>>): Environment {
  return { ...process.env, ...changes };
}

/** Node's threads for files and DNS lookups. Not one of our settings; it must be set before Node starts. */
export function threadsOfNode(env: Environment = process.env): number {
  return Number(env.UV_THREADPOOL_SIZE) || 4;
}

/** A misspelt setting would be ignored silently. Under our own prefix a variable can only be a misspelt setting. */
function unknownSettings(env: Environment): string[] {
  const prefix = "VENUEWATCH_";
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix))
    .map((name) => {
      const bare = name.slice(prefix.length);
      const known = settingTable.some((setting) => setting.name === bare);
      return known
        ? `${name}: settings have no prefix; set ${bare} instead`
        : `${name}: there is no such setting; unset it (docs/settings.md lists all settings)`;
    });
}

function problemOf(name: SettingName, text: string, wrong: WrongValue) {
  const came = wrong.secret ? "something else" : JSON.stringify(maskedAddress(text));
  return `${name}: expected ${wrong.expected}, got ${came}; correct it, or unset it for the default`;
}

function allProblems(problems: string[]): string {
  return ["wrong settings in the environment:", ...problems].join("\n  ");
}

// Secrets in files, as container engines and service managers provide them: visible neither in the environment nor in
// arguments.

/** Far longer than any secret; a wrong file is not read whole. */
const maxBytes = 4_096;

/**
 * The only line of a file, without its line end.
 *
 * @throws WrongValue, which never shows the content
 */
export function secretIn(path: string): string {
  const text = textOf(path);
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw new WrongValue(`${oneLine}, but it is empty`);
  if (/\p{Cc}/u.test(line)) throw new WrongValue(`${oneLine}, but it has more than that`);
  return line;
}

const oneLine = "the path of a file with one line of text";

function textOf(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > maxBytes) throw new WrongValue(`${oneLine}, but it has ${size} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof WrongValue) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new WrongValue(`${oneLine}, but it cannot be read (${code})`);
  }
}
