/** The operator's own files: a logo, the accent as a style sheet, and a style sheet. */
import { createHash } from "node:crypto";
import type { Brand } from "../../../shared/config/brand.js";
import { type Body, makeBody } from "../api/body.js";

export interface BrandAssets {
  /** Paths of style sheets, in the order in which pages load them. */
  styles: string[];
  /** Path of the logo; null: none. */
  logo: string | null;
  /** By file name, with the hash that is part of its path. */
  files: ReadonlyMap<string, BrandFile>;
}

export interface BrandFile {
  hash: string;
  type: string;
  body: Body;
}

const made = new WeakMap<Brand, BrandAssets>();

/** Each path may be cached forever: it changes with the content. */
export function brandAssets(brand: Brand): BrandAssets {
  let assets = made.get(brand);
  if (!assets) made.set(brand, (assets = makeAssets(brand)));
  return assets;
}

function makeAssets({ logo, accent, css }: Brand): BrandAssets {
  const files = new Map<string, BrandFile>();

  function add(name: string, type: string, content: string | Buffer): string {
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
    files.set(name, { hash, type, body: makeBody(content) });
    return `/assets/${hash}/${name}`;
  }

  const cssType = "text/css; charset=utf-8";
  const styles: string[] = [];
  // pages allow no style of their own, so the colour needs a file
  if (accent !== null)
    styles.push(
      add("accent.css", cssType, `:root{--accent:light-dark(${accent.light},${accent.dark});--link:var(--accent)}\n`),
    );
  if (css !== null) styles.push(add("operator.css", cssType, css));
  const logoName = logo?.type === "image/png" ? "logo.png" : "logo.svg";
  return { styles, logo: logo && add(logoName, logo.type, logo.bytes), files };
}

/** An SVG file that is opened by itself is a document of this site: nothing in it runs or loads. */
export const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";
