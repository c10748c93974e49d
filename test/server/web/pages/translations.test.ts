/** Every text of a page has its translation, and no translation is of a text that is gone. */
import t from "tap";
import { type Catalogue, catalogues, inLanguage, plural, t as text } from "../../../../server/web/pages/language.js";
import { ofBoard } from "../../../../server/web/pages/german/board.js";
import { ofComparisons } from "../../../../server/web/pages/german/comparisons.js";
import { ofIncidents } from "../../../../server/web/pages/german/incidents.js";
import { ofVenue } from "../../../../server/web/pages/german/venue.js";
import { bareTextsOfPages, type PageText, placeholdersIn, textsOfPages } from "../../../support/page-texts.js";

const texts = textsOfPages();

for (const [language, catalogue] of Object.entries<Catalogue>(catalogues)) {
  void t.test(`${language}: no text is missing`, (t) => {
    const missing = texts.filter(({ key }) => !Object.hasOwn(catalogue, key));
    t.same(
      missing.map(({ key, place }) => `${place}: ${key}`),
      [],
    );
    t.end();
  });

  void t.test(`${language}: no translation is left over`, (t) => {
    const used = new Set(texts.map(({ key }) => key));
    t.same(
      Object.keys(catalogue).filter((key) => !used.has(key)),
      [],
    );
    t.end();
  });

  void t.test(`${language}: what is filled in appears in each translation`, (t) => {
    t.same(
      texts.flatMap((one) => faultsOf(one, catalogue[one.key], language)),
      [],
    );
    t.end();
  });
}

/** What is wrong with a translation, with the place of its text. */
function faultsOf({ key, one, place }: PageText, translation: Catalogue[string] | undefined, language: string) {
  if (translation === undefined) return [];
  if ((one !== undefined) !== (typeof translation === "object")) return [`${place}: one is a plural, the other is not`];
  const forms = typeof translation === "string" ? { other: translation } : translation;
  const wanted = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  const faults = one === undefined ? [] : wanted.filter((form) => !(form in forms)).map((form) => `lacks ${form}`);
  for (const [form, words] of Object.entries(forms)) {
    const [got, expected] = [placeholdersIn(words), placeholdersIn(key)];
    // of one thing, the number may be said in words
    const isOptional = (name: string) => one !== undefined && name === "{0}";
    if (
      !expected.every((name) => got.includes(name) || isOptional(name)) ||
      !got.every((name) => expected.includes(name) || isOptional(name))
    )
      faults.push(`${form} fills ${got.join(", ")} instead of ${expected.join(", ")}`);
    if (words.trim() !== words || words === "") faults.push(`${form} is empty, or has spaces around it`);
  }
  return faults.map((fault) => `${place}: ${fault}: ${key}`);
}

void t.test("no text has two translations", (t) => {
  const keys = [ofBoard, ofVenue, ofIncidents, ofComparisons].flatMap((part) => Object.keys(part));
  t.same(
    keys.filter((key, at) => keys.indexOf(key) !== at),
    [],
  );
  t.end();
});

void t.test("sources are read: texts, what is filled in, and plurals", (t) => {
  const found = (key: string) => texts.find((one) => one.key === key);
  t.match(found("{0} is down"), { place: /^answer\.ts:\d+$/ });
  t.match(found("{0} open incidents"), { one: "{0} open incident" });
  t.ok(texts.length > 500);
  t.end();
});

void t.test("no text stands between tags as it is", (t) => {
  t.same(bareTextsOfPages(), []);
  t.end();
});

void t.test("each text is made while a page is rendered", (t) => {
  t.same(
    texts.filter(({ isEarly }) => isEarly).map(({ place, key }) => `${place}: ${key}`),
    [],
  );
  t.end();
});

// How a text is made.

const incidents = (count: number) => plural(count, "{0} open incident", "{0} open incidents");

void t.test("outside of pages, and in English, texts are as they stand", (t) => {
  t.equal(text`${"OKX"} is down`, "OKX is down");
  t.equal(
    inLanguage("en", () => text`${"OKX"} is down`),
    "OKX is down",
  );
  t.same([incidents(1), incidents(2), incidents(0)], ["1 open incident", "2 open incidents", "0 open incidents"]);
  t.end();
});

void t.test("in another language they have its order, its plural forms and its decimal sign", (t) => {
  inLanguage("de", () => {
    t.equal(text`${"OKX"} is down`, "OKX ist ausgefallen");
    t.equal(text`${"OKX"} was down for ${"18 min"} on ${"28. Nov."}`, "OKX war am 28. Nov., 18 min lang ausgefallen");
    t.same([incidents(1), incidents(2)], ["1 offener Vorfall", "2 offene Vorfälle"]);
    t.equal(text`${99.5} ago:`, "Vor 99,5:");
  });
  t.equal(text`${"OKX"} is down`, "OKX is down", "and afterwards English again");
  t.end();
});

void t.test("after an error within a page, English is spoken again", (t) => {
  t.throws(() =>
    inLanguage("de", () => {
      throw new Error("a page that fails");
    }),
  );
  t.equal(text`Healthy`, "Healthy");
  t.end();
});

void t.test("what is filled in may hold braces", (t) => {
  t.equal(
    inLanguage("de", () => text`${"{1} {0}"} is down`),
    "{1} {0} ist ausgefallen",
  );
  t.end();
});

void t.test("elements are filled in as they are", (t) => {
  const element = { type: "b", props: {}, key: null };
  t.same(
    inLanguage("de", () => text`since ${element}`),
    ["seit ", element, ""],
  );
  t.end();
});
