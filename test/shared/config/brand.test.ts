/** The operator's own name, logo, colour and links: what is accepted, and what is refused with which words. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import t, { type Test } from "tap";
import { grounds, ownBrand } from "../../../shared/config/brand.js";
import { packagedFile } from "../../../shared/config/package.js";
import { brandOf as brandIn, readSettings } from "../../../shared/config/settings.js";
import { png, svg } from "../../support/logos.js";

const brandOf = (env: Record<string, string>) => brandIn(readSettings(env));

void t.test("without any of these settings, the site is ours", (t) => {
  t.same(brandOf({}), ownBrand);
  t.same(brandOf({ SITE_NAME: "", SITE_LOGO: "" }), ownBrand);
  t.end();
});

void t.test("an operator's settings arrive parsed, and are immutable", (t) => {
  const dir = t.testdir({ "logo.svg": svg, "logo.png": png, "own.css": "h1 { color: red }\n" });
  const brand = brandOf({
    SITE_NAME: "Börse & Co <Status>",
    SITE_LOGO: `${dir}/logo.svg`,
    SITE_LINKS: "News=https://example.org/news?a=b, Call us=tel:+4930123456",
    SITE_ACCENT: "#05A, #8ab8f0",
    SITE_CONTACT: "mailto:status@example.org",
    SITE_CSS: `${dir}/own.css`,
    SITE_IMPRINT: "https://example.org/imprint",
    SITE_PRIVACY: "http://example.org/privacy",
  });
  t.same(brand, {
    ...{ name: "Börse & Co <Status>", logo: { type: "image/svg+xml", bytes: Buffer.from(svg) } },
    links: [
      { text: "News", href: "https://example.org/news?a=b" },
      { text: "Call us", href: "tel:+4930123456" },
    ],
    ...{ accent: { light: "#0055aa", dark: "#8ab8f0" }, contact: "mailto:status@example.org" },
    ...{ css: "h1 { color: red }\n", imprint: "https://example.org/imprint", privacy: "http://example.org/privacy" },
  });
  for (const value of [brand, brand.links, brand.links[0], brand.accent, brand.logo]) t.ok(Object.isFrozen(value));
  t.equal(brandOf({ SITE_LOGO: `${dir}/logo.png` }).logo!.type, "image/png");
  t.end();
});

void t.test("a program that shows no pages needs no files of them", (t) => {
  const env = { SITE_LOGO: "none.svg", SITE_CSS: "none.css", SITE_NAME: "Acme" };
  t.match(readSettings(env).look, { name: "Acme", logoFile: resolve("none.svg"), cssFile: resolve("none.css") });
  t.match(refusal(t, env), /SITE_LOGO: expected .*ENOENT[^]*SITE_CSS: expected .*ENOENT/, "web reports both");
  t.end();
});

void t.test("what is wrong is refused, and the message says what was expected", (t) => {
  const dir = t.testdir({
    "page.html": "<!doctype html><svg xmlns='http://www.w3.org/2000/svg'/>",
    "short.png": png.subarray(0, 10),
    "large.svg": `${svg}<!--${"x".repeat(65_536)}-->`,
    "latin.css": Buffer.from("/* B\u00f6rse */", "latin1"),
  });
  for (const [name, values, expected] of [
    ["SITE_NAME", ["two\nlines", "x".repeat(61), " blank"], "one line of 1 to 60 characters"],
    ["SITE_LOGO", [`${dir}/page.html`, `${dir}/short.png`, `${dir}/latin.css`], "begins as neither of them"],
    ["SITE_LOGO", [`${dir}/large.svg`], "but it has 65"],
    ["SITE_LOGO", [`${dir}/none.svg`], "cannot be read (ENOENT)"],
    ["SITE_LINKS", ["https://example.org", "News=", "=https://example.org", "News=ftp://example.org"], "text=address"],
    ["SITE_LINKS", ["X=javascript:alert(1)", "X=data:text/html,x", "X=//example.org", "X=mailto:"], "text=address"],
    ["SITE_LINKS", [`${"x".repeat(41)}=https://example.org`, "X=https://u:p@example.org/"], "text=address"],
    ["SITE_LINKS", [`X=https://example.org/${"x".repeat(500)}`, "X=https://example.org,"], "text=address"],
    ["SITE_LINKS", [Array.from({ length: 9 }, (_, at) => `L${at}=https://example.org`).join()], "at most 8 links"],
    ["SITE_ACCENT", ["blue", "#12345", "rgb(0 0 0)", "#fff;}", "#111111,#eeeeee,#dddddd"], "two colours as #rrggbb"],
    ["SITE_CONTACT", ["status@example.org", "javascript:alert(1)"], "an https:, http:, mailto: or tel: address"],
    ["SITE_CSS", [`${dir}/latin.css`], "but it has other bytes"],
    ["SITE_CSS", [dir], "cannot be read (EISDIR)"],
    ["SITE_IMPRINT", ["mailto:a@example.org", "/imprint"], "an https:// or http:// address"],
    ["SITE_PRIVACY", ["privacy.html"], "an https:// or http:// address"],
  ] as const)
    for (const value of values) {
      const message = refusal(t, { [name]: value });
      t.ok(message.includes(`${name}: expected `) && message.includes(expected), `${name}=${value}: ${message}`);
    }
  t.end();
});

void t.test("a colour that cannot be read is refused, with the nearest ones that can", (t) => {
  for (const [value, scheme, contrast] of [
    ["#0b57a4", "dark", "2.2"],
    ["#8ab8f0", "light", "1.9"],
    ["#777,#777777", "light", "4.1"],
    ["#000,#000", "dark", "1.3"],
  ] as const) {
    const message = refusal(t, { SITE_ACCENT: value });
    const [, has] = new RegExp(`has ([\\d.]+) in the ${scheme} one`).exec(message) ?? [];
    t.ok(Math.abs(Number(has) - Number(contrast)) <= 0.35, `${value}: ${has}`);
    const [, possible] = /; (#\w{6},#\w{6}) would do/.exec(message) ?? [];
    t.ok(brandOf({ SITE_ACCENT: possible! }).accent, `${possible} is accepted`);
  }
  t.same(brandOf({ SITE_ACCENT: "#0b57a4,#8ab8f0" }).accent, { light: "#0b57a4", dark: "#8ab8f0" });
  t.end();
});

void t.test("the grounds are those of the pages", (t) => {
  const css = readFileSync(packagedFile("server/web/pages/assets/style.css"), "utf8");
  const long = (hex: string) => (hex.length === 4 ? hex.replace(/[0-9a-f]/g, "$&$&") : hex);
  for (const [at, name] of ["ground", "raised", "card"].entries()) {
    const [, light = "", dark = ""] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(css) ?? [];
    t.strictSame([long(light), long(dark)], [grounds.light[at], grounds.dark[at]], name);
  }
  t.end();
});

function refusal(t: Test, env: Record<string, string>): string {
  try {
    brandOf(env);
  } catch (error) {
    return (error as Error).message;
  }
  t.fail(`not refused: ${JSON.stringify(env)}`);
  return "";
}
