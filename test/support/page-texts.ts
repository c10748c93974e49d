/** The texts of the pages, as they stand in the sources. */
import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { packagedFile } from "../../shared/config/package.js";

export interface PageText {
  /** By which a catalogue finds it. */
  key: string;
  /** Of a plural, the form for one. */
  one?: string;
  /** File and line. */
  place: string;
  /** Made when the file is loaded, and so always in English. */
  isEarly: boolean;
}

const folder = packagedFile("server/web/pages");

/** Each use of `t` and of `plural`; what they are called with must stand there. */
export function textsOfPages(): PageText[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((name) => /\.tsx?$/.test(name) && name !== "language.ts").flatMap(textsOf);
}

function textsOf(name: string): PageText[] {
  const source = sourceOf(name);
  const found: PageText[] = [];
  const placeOf = (node: ts.Node) => placeIn(source, node);

  function visit(node: ts.Node): void {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === "t")
      found.push({ key: keyOf(node.template), place: placeOf(node), isEarly: isEarly(node) });
    if (ts.isCallExpression(node) && node.expression.getText() === "plural") {
      const [, one, other] = node.arguments.map(literalText);
      if (one === undefined || other === undefined)
        throw new Error(`${placeOf(node)}: expected both forms of a plural as texts, got ${node.getText()}`);
      found.push({ key: other, one, place: placeOf(node), isEarly: isEarly(node) });
    }
    ts.forEachChild(node, visit);
  }

  visit(source);
  return found;
}

function sourceOf(name: string): ts.SourceFile {
  const text = readFileSync(`${folder}/${name}`, "utf8");
  return ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
}

function placeIn(source: ts.SourceFile, node: ts.Node): string {
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
}

function isEarly(node: ts.Node): boolean {
  return ts.findAncestor(node, (around) => ts.isFunctionLike(around)) === undefined;
}

function keyOf(template: ts.TemplateLiteral): string {
  if (ts.isNoSubstitutionTemplateLiteral(template)) return template.text;
  return template.templateSpans.reduce((key, { literal }, at) => `${key}{${at}}${literal.text}`, template.head.text);
}

function literalText(node: ts.Expression): string | undefined {
  return ts.isStringLiteralLike(node) ? node.text : undefined;
}

/** `{0}`, `{1}` …, each once, in order. */
export function placeholdersIn(text: string): string[] {
  return [...new Set(text.match(/\{\d+\}/g))].sort();
}

/** Of pages that are in English only. */
const untranslated = /^(docs|docs-search|markdown|reference|reference-tables)\.tsx$/;

/** Words that stand between tags, or are chosen there, without `t`; with their places. */
export function bareTextsOfPages(): string[] {
  const files = readdirSync(folder, { encoding: "utf8" });
  return files.filter((name) => name.endsWith(".tsx") && !untranslated.test(name)).flatMap(bareTextsOf);
}

const shownAttributes = ["alt", "aria-label", "caption", "label", "title", "word"];

function bareTextsOf(name: string): string[] {
  const source = sourceOf(name);
  const found: string[] = [];
  const check = (node: ts.Node, text: string) => {
    if (/\p{L}{2}/u.test(text)) found.push(`${placeIn(source, node)}: ${text.trim().replace(/\s+/g, " ")}`);
  };

  function visit(node: ts.Node): void {
    if (ts.isJsxText(node)) check(node, node.text);
    if (ts.isJsxAttribute(node) && shownAttributes.includes(node.name.getText(source)) && node.initializer)
      check(node, ts.isStringLiteral(node.initializer) ? node.initializer.text : "");
    if (ts.isPropertyAssignment(node) && node.name.getText(source) === "head")
      for (const literal of shownBy(node.initializer)) check(literal, wordsOf(literal));
    if (ts.isJsxExpression(node) && node.expression && !ts.isJsxAttribute(node.parent))
      for (const literal of shownBy(node.expression)) check(literal, wordsOf(literal));
    ts.forEachChild(node, visit);
  }

  visit(source);
  return found;
}

/** The literals that an expression may show as they are. */
function shownBy(node: ts.Expression): ts.Expression[] {
  if (ts.isParenthesizedExpression(node)) return shownBy(node.expression);
  if (ts.isConditionalExpression(node)) return [...shownBy(node.whenTrue), ...shownBy(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...shownBy(node.left), ...shownBy(node.right)];
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
  // what is compared is not shown
  return isText && !(ts.isBinaryExpression(node.parent) && isComparison(node.parent)) ? [node] : [];
}

function isComparison({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return kind === ts.SyntaxKind.EqualsEqualsEqualsToken || kind === ts.SyntaxKind.ExclamationEqualsEqualsToken;
}

function wordsOf(node: ts.Expression): string {
  if (!ts.isTemplateExpression(node)) return literalText(node) ?? "";
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(" ");
}
