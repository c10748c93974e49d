/** Parsers of settings. An invalid text throws WrongValue with what was expected. */
import { isIP, isIPv6 } from "node:net";
import { resolve } from "node:path";
import { addressesOf } from "../database/address.js";
import { type LogLevel, logLevels } from "../log/log.js";

/** The place that a probe measures from, as its operator states it (setting VANTAGE). */
export interface Vantage {
  /** A short name: of a site, a data centre or a machine. */
  name: string;
  /** Its geographic place. */
  place: string;
  /** Its network. */
  network: string;
}

export class WrongValue extends Error {
  /** @param secret the text may contain a password and must not be shown */
  constructor(
    readonly expected: string,
    readonly secret = false,
  ) {
    super(`expected ${expected}`);
  }
}

export function parsePort(text: string): number {
  return parseInteger(text, 65_535, "a port from 0 to 65535 (0: any free one)");
}

/** An IP address to listen on. A name could resolve to several. */
export function parseHost(text: string): string {
  // a URL cannot contain a zone, as in fe80::1%eth0
  if (isIP(text) === 0 || text.includes("%"))
    throw new WrongValue("an IP address of this machine, such as 127.0.0.1, or 0.0.0.0 or :: for all of them");
  return text;
}

export function parseRate(text: string): number {
  return parseInteger(text, 1_000_000, "a whole number from 0 to 1000000");
}

export function parseCount(text: string): number {
  const expected = "a whole number from 1 to 1000";
  const value = parseInteger(text, 1000, expected);
  if (value === 0) throw new WrongValue(expected);
  return value;
}

function parseInteger(text: string, most: number, expected: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value <= most)) throw new WrongValue(expected);
  return value;
}

/** An absolute path, resolved from the working directory. */
export function parseFilePath(text: string): string {
  return resolve(text);
}

const databaseUrlShape = "postgres://user:password@host:port/database, or several host:port separated by commas";

/** Address of the primary: of several hosts, the writable one is used. */
export function parseDatabaseUrl(text: string): string {
  return parseServerUrl(text, ["read-write", "primary"]);
}

/** Address for reading only: of several hosts, any can be used. */
export function parseDatabaseReadUrl(text: string): string {
  return parseServerUrl(text, ["any"]);
}

/**
 * @param targets allowed values of `target_session_attrs`, so that the same address works with psql; they describe what
 * this program does anyway
 */
function parseServerUrl(text: string, targets: string[]): string {
  for (const address of addressesOf(text)) {
    if (!["postgres:", "postgresql:"].includes(protocolOf(address))) throw new WrongValue(databaseUrlShape, true);
    const { hostname, searchParams } = new URL(address);
    if (address !== text && hostname === "") throw new WrongValue(databaseUrlShape, true);
    if (["host", "port"].some((one) => searchParams.get(one)?.includes(",")))
      throw new WrongValue(
        "several hosts before the database's name (postgres://user@a:5432,b:5433/database), not in ?host= or ?port=",
        true,
      );
    const target = searchParams.get("target_session_attrs");
    if (target !== null && !targets.includes(target))
      throw new WrongValue(`an address with target_session_attrs=${targets.join(" or ")}, or without it`, true);
  }
  return text;
}

/** Removes slashes at the end, so that paths can be appended. */
export function parseSiteUrl(text: string): string {
  const { protocol, username, password } = URL.canParse(text)
    ? new URL(text)
    : { protocol: "", username: "", password: "" };
  const isWeb = ["http:", "https:"].includes(protocol);
  // the address is published, and so would be a password in it
  if (!isWeb || /[?#]/.test(text) || username + password !== "")
    throw new WrongValue("an http:// or https:// address without user name, ? and #");
  return text.replace(/\/+$/, "");
}

function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : "";
}

export function parseRegion(text: string): string {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(text)) throw new WrongValue("the id of a region, such as eu-central");
  return text;
}

export function parseRegions(text: string): readonly string[] {
  const regions = listOf(text).map(parseRegion);
  if (new Set(regions).size < regions.length) throw new WrongValue("each region once");
  return Object.freeze(regions);
}

/** A part of a vantage, which is published. */
const shownPart = /^\P{Cc}{1,60}$/u;

export function parseVantage(text: string): Vantage {
  const [name = "", place = "", network = "", ...rest] = listOf(text);
  const parts = [name, place, network];
  if (rest.length > 0 || !parts.every((part) => shownPart.test(part)))
    throw new WrongValue(
      "a name, a place and a network, separated by commas, each of 1 to 60 characters, such as fra1, Frankfurt, Hetzner AS24940",
    );
  return Object.freeze({ name, place, network });
}

export function parseNotice(text: string): string {
  if (!/^\P{Cc}{1,200}$/u.test(text)) throw new WrongValue("one line of 1 to 200 characters");
  return text;
}

/** Only addresses can be trusted. `true` or a number of hops would let clients choose their own address. */
export function parseProxies(text: string): readonly string[] {
  const names = ["loopback", "linklocal", "uniquelocal"];
  const proxies = listOf(text);
  if (!proxies.every((proxy) => names.includes(proxy) || isNetwork(proxy)))
    throw new WrongValue(`addresses or networks (10.0.0.0/8), or ${names.join(", ")}, separated by commas`);
  return Object.freeze(proxies);
}

function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function listOf(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

/** A key of 32 bytes in base64, as `openssl rand -base64 32` prints it. */
export function parseKey(text: string): Buffer {
  if (!/^[A-Za-z0-9+/]{43}=$/.test(text))
    throw new WrongValue("32 bytes as base64, 44 characters (openssl rand -base64 32 makes one)", true);
  return Buffer.from(text, "base64");
}

/** A text that fits into a header and is long enough to be recognised wherever it appears. */
export function parseCredential(text: string): string {
  if (!/^[\x21-\x7e][\x20-\x7e]{6,1022}[\x21-\x7e]$/.test(text))
    throw new WrongValue("8 to 1024 printable ASCII characters without blanks at the ends", true);
  return text;
}

export function parseSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new WrongValue("on or off");
  return text === "on";
}

export function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((level) => level === text);
  if (level === undefined) throw new WrongValue(logLevels.join(", "));
  return level;
}

/** Reachable only from this machine. */
export const loopbackAddress = "127.0.0.1";

/** The URL, without a path, by which this machine reaches a server that listens on `host`. */
export function addressOf(host: string, port: number): string {
  const isLocalhost = [loopbackAddress, "0.0.0.0", "::"].includes(host);
  const name = isLocalhost ? "localhost" : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
