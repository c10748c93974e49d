/**
 * The languages of the pages. Texts stand in English where they are shown; other languages have a catalogue, in which
 * each text is found by its English one. What is written for programs and for other sites stays English.
 */
import type { ComponentChildren } from "preact";
import { german } from "./german/german.js";

/** The first is that of the sources, and of readers who ask for none of these. */
export const languages = ["en", "de"] as const;

export type Language = (typeof languages)[number];

/** The language of all that is no page: feeds, badges, the API. */
export const sourceLanguage: Language = "en";

/** In their own words, for those who look for them. */
export const languageNames: Record<Language, string> = { en: "English", de: "Deutsch" };

/** One text for each form that the language has for a number. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;

/** Translations by their English texts, with `{0}` for what is filled in; of plurals, by the form for many. */
export type Catalogue = Readonly<Record<string, string | PluralForms>>;

export const catalogues: Record<Exclude<Language, "en">, Catalogue> = { de: german };

/** Rendering never waits for anything, so that no other page can be rendered meanwhile. */
let present: Language = sourceLanguage;

/** Renders in a language; everything outside of this is in English. */
export function inLanguage<T>(language: Language, render: () => T): T {
  const before = present;
  present = language;
  try {
    return render();
  } finally {
    present = before;
  }
}

/** The language in which a page is being rendered. */
export function language(): Language {
  return present;
}

/** For dates, lists and numbers: days come before months in each of them. */
export function locale(): string {
  return { en: "en-GB", de: "de-DE" }[present];
}

/**
 * A text of a page, in the language in which it is rendered: `` t`Down since ${time}` ``. What is filled in may be
 * elements, which the text then surrounds. Translations may place it anywhere, so a text is a whole sentence, and no
 * sentence is put together from several.
 */
export function t(english: TemplateStringsArray, ...values: (string | number)[]): string;
export function t(english: TemplateStringsArray, ...values: ComponentChildren[]): ComponentChildren;
export function t(english: TemplateStringsArray, ...values: ComponentChildren[]): ComponentChildren {
  return filled(piecesOf(keyOf(english)), values);
}

/** Texts by name, each made in the language in which it is read. */
export function texts<Name extends string>(made: Record<Name, () => string>): Readonly<Record<Name, string>> {
  const getters = Object.entries<() => string>(made).map(([name, get]) => [name, { get, enumerable: true }] as const);
  return Object.defineProperties({} as Record<Name, string>, Object.fromEntries(getters));
}

/**
 * A text that depends on a number: `plural(count, "{0} incident", "{0} incidents")`.
 *
 * @param one for a single one
 * @param more fills `{1}` and so on; the count fills `{0}`
 */
export function plural(count: number, one: string, other: string, ...more: (string | number)[]): string;
export function plural(count: number, one: string, other: string, ...more: ComponentChildren[]): ComponentChildren;
export function plural(count: number, one: string, other: string, ...more: ComponentChildren[]): ComponentChildren {
  const forms = present === "en" ? { one, other } : catalogues[present][other];
  const english = count === 1 ? one : other;
  const text = typeof forms === "object" ? (forms[rules[present].select(count)] ?? forms.other) : forms;
  return filled(piecesIn(text ?? english), [count, ...more]);
}

const rules: Record<Language, Intl.PluralRules> = { en: new Intl.PluralRules("en"), de: new Intl.PluralRules("de") };

/** Digits as published, with the language's decimal sign. */
export function numberText(number: number | string): string {
  return present === "en" ? String(number) : String(number).replace(".", decimalSigns[present]);
}

const decimalSigns: Record<Exclude<Language, "en">, string> = { de: "," };

/** Texts and numbers of placeholders in turn, beginning with a text. */
type Pieces = readonly string[];

function filled(pieces: Pieces, values: readonly ComponentChildren[]): ComponentChildren {
  const parts = pieces.map((piece, at) => (at % 2 === 0 ? piece : valueOf(values[Number(piece)])));
  return parts.every((part) => typeof part === "string") ? parts.join("") : parts;
}

function valueOf(value: ComponentChildren): ComponentChildren {
  return typeof value === "number" ? numberText(value) : value;
}

function piecesOf(key: string): Pieces {
  const text = present === "en" ? key : catalogues[present][key];
  return piecesIn(typeof text === "string" ? text : key);
}

const knownKeys = new WeakMap<TemplateStringsArray, string>();

/** `Down since {0}` */
function keyOf(english: TemplateStringsArray): string {
  let key = knownKeys.get(english);
  if (key === undefined) {
    key = english.map((piece, at) => (at === 0 ? piece : `{${at - 1}}${piece}`)).join("");
    knownKeys.set(english, key);
  }
  return key;
}

/** As many as there are texts: none of them comes from outside. */
const knownPieces = new Map<string, Pieces>();

function piecesIn(text: string): Pieces {
  let pieces = knownPieces.get(text);
  if (pieces === undefined) knownPieces.set(text, (pieces = text.split(/\{(\d)\}/)));
  return pieces;
}
