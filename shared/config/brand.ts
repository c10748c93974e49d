/** What an operator sets of the pages' looks (settings SITE_NAME, SITE_LOGO and others), and how it is checked. */
import { readFileSync, statSync } from "node:fs";
import { WrongValue } from "./setting-values.js";

export interface Brand {
  /** Of the site, in place of ours. */
  name: string;
  logo: Logo | null;
  /** In the footer of each page. */
  links: readonly BrandLink[];
  accent: Accent | null;
  /** Where readers reach the operator. */
  contact: string | null;
  /** A style sheet that is loaded after ours. */
  css: string | null;
  imprint: string | null;
  privacy: string | null;
}

/** The same with the paths of its files, which only what shows them reads: other machines do not have them. */
export interface BrandSettings extends Omit<Brand, "logo" | "css"> {
  logoFile: string | null;
  cssFile: string | null;
}

export interface Logo {
  type: "image/svg+xml" | "image/png";
  bytes: Buffer;
}

export interface BrandLink {
  text: string;
  href: string;
}

/** A colour as `#rrggbb` for each colour scheme. */
export interface Accent {
  light: string;
  dark: string;
}

/** Without any of these settings. */
export const ownBrand: Brand = Object.freeze({
  ...{ name: "venuewatch", logo: null, links: Object.freeze([]), accent: null },
  ...{ contact: null, css: null, imprint: null, privacy: null },
});

export function parseSiteName(text: string): string {
  if (!/^\P{Cc}{1,60}$/u.test(text) || text.trim() !== text)
    throw new WrongValue("one line of 1 to 60 characters, without blanks at its ends");
  return text;
}

const mostLinks = 8;

/** `Telegram=https://t.me/acme, Call us=tel:+4930123456`. A comma in an address is written as %2C. */
export function parseSiteLinks(text: string): readonly BrandLink[] {
  const links = text.split(",").map((item) => {
    const [words = "", ...address] = item.split("=");
    const href = linkOf(address.join("=").trim(), reachable);
    if (!/^\P{Cc}{1,40}$/u.test(words.trim()) || href === null)
      throw new WrongValue(
        "text=address pairs separated by commas, each text of 1 to 40 characters and each address of at most 500 with https:, http:, mailto: or tel:, such as News=https://example.org/news",
      );
    return Object.freeze({ text: words.trim(), href });
  });
  if (links.length > mostLinks) throw new WrongValue(`at most ${mostLinks} links`);
  return Object.freeze(links);
}

export function parseContact(text: string): string {
  const href = linkOf(text, reachable);
  if (href === null)
    throw new WrongValue(
      "an https:, http:, mailto: or tel: address of at most 500 characters, such as mailto:status@example.org",
    );
  return href;
}

export function parseSitePage(text: string): string {
  const href = linkOf(text, web);
  if (href === null) throw new WrongValue("an https:// or http:// address of at most 500 characters");
  return href;
}

const web = ["https:", "http:"];
const reachable = [...web, "mailto:", "tel:"];

/** Null for anything else, above all for `javascript:`. */
function linkOf(text: string, protocols: readonly string[]): string | null {
  if (text.length > 500 || !URL.canParse(text)) return null;
  const { protocol, username, password, pathname, href } = new URL(text);
  // the address is published, and so would be a password in it
  if (!protocols.includes(protocol) || username + password !== "" || pathname === "") return null;
  return href;
}

// The accent: the colour of links and of what is selected.

/** What stands behind it, in `assets/style.css`: the page, and what is raised from it. */
export const grounds = {
  light: ["#f5f6f8", "#eceff2", "#ffffff"],
  dark: ["#101316", "#252b31", "#191d22"],
} as const;

/** WCAG 2.2, criterion 1.4.3, for text of any size. */
const leastContrast = 4.5;

/** No single colour can be read on white and on nearly black, so there is one for each. */
export function parseAccent(text: string): Accent {
  const colours = text.split(",").map((colour) => hexOf(colour.trim()));
  const [light, dark = light] = colours;
  if (colours.length > 2 || light == null || dark == null)
    throw new WrongValue("two colours as #rrggbb, for the light and the dark scheme, such as #0b57a4,#8ab8f0");
  const accent = { light, dark };
  for (const scheme of ["light", "dark"] as const) {
    const contrast = contrastOn(scheme, accent[scheme]);
    if (contrast >= leastContrast) continue;
    const possible = `${readableOn("light", light)},${readableOn("dark", dark)}`;
    throw new WrongValue(
      `colours with a contrast of at least ${leastContrast} for the light and the dark scheme, but ${accent[scheme]} has ${contrast.toFixed(1)} in the ${scheme} one; ${possible} would do`,
    );
  }
  return Object.freeze(accent);
}

function hexOf(text: string): string | null {
  if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)) return null;
  const digits = text.slice(1).toLowerCase();
  return `#${digits.length === 3 ? digits.replace(/./g, "$&$&") : digits}`;
}

/** On the ground of a scheme on which it is least. */
function contrastOn(scheme: keyof typeof grounds, colour: string): number {
  return Math.min(
    ...grounds[scheme].map((ground) => {
      const [darker, lighter] = [luminanceOf(colour), luminanceOf(ground)].sort((a, b) => a - b);
      return (lighter! + 0.05) / (darker! + 0.05);
    }),
  );
}

/** Relative luminance, as WCAG defines it. */
function luminanceOf(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function channelsOf(colour: string): number[] {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** The colour itself, or the nearest shade or tint of it that can be read. */
function readableOn(scheme: keyof typeof grounds, colour: string): string {
  const towards = scheme === "light" ? 0 : 255;
  for (let share = 0; share <= 1; share += 0.02) {
    const mixed = channelsOf(colour).map((channel) => Math.round(channel + (towards - channel) * share));
    const candidate = `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    if (contrastOn(scheme, candidate) >= leastContrast) return candidate;
  }
  return scheme === "light" ? "#000000" : "#ffffff";
}

// Files, which are read once and served by us.

/** A page loads both, and they are kept in memory. */
const mostFileBytes = 65_536;

export function readLogo(path: string): Logo {
  const expected = "the path of an SVG or PNG file of at most 64 KiB";
  const bytes = boundedFile(path, expected);
  if (isPng(bytes)) return Object.freeze({ type: "image/png", bytes });
  if (isSvg(bytes)) return Object.freeze({ type: "image/svg+xml", bytes });
  throw new WrongValue(`${expected}, but it begins as neither of them`);
}

/** By its signature, and its first chunk. */
function isPng(bytes: Buffer): boolean {
  return (
    bytes.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex")) && bytes.toString("latin1", 12, 16) === "IHDR"
  );
}

/** By its root, after a declaration, comments and a document type. Nothing in it runs: see `brandAssets`. */
function isSvg(bytes: Buffer): boolean {
  const text = textIn(bytes)?.replace(/^\uFEFF/, "");
  if (text === undefined) return false;
  const root = text.replace(/<!--[^]*?-->/g, "").replace(/^\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>[]*>\s*)?/, "");
  return /^<svg\s[^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/.test(root);
}

export function readStyleSheet(path: string): string {
  const expected = "the path of a style sheet of at most 64 KiB in UTF-8";
  const text = textIn(boundedFile(path, expected));
  if (text === undefined) throw new WrongValue(`${expected}, but it has other bytes`);
  return text;
}

/** Undefined where the bytes are no text. */
function textIn(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function boundedFile(path: string, expected: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > mostFileBytes) throw new WrongValue(`${expected}, but it has ${size} bytes`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof WrongValue) throw error;
    throw new WrongValue(`${expected}, but it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
