/**
 * Finds the metrics and labels that a PromQL expression names, as far as needed to compare them with the exported ones.
 */

export interface Named {
  /** The metric of each selector, and the labels that it matches. */
  selectors: { metric: string; labels: string[] }[];
  /** Labels by which results are grouped or matched. */
  grouping: string[];
  /** Labels that the expression itself creates by label_replace. */
  made: string[];
}

const token = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[a-zA-Z_:][a-zA-Z0-9_:]*|\d[\d.a-z]*|[=!<>]=|[=!]~|\S/g;
const name = /^[a-zA-Z_:]/;
const groupingWords = ["by", "without", "on", "ignoring", "group_left", "group_right"];
const otherWords = ["and", "or", "unless", "bool", "offset"];

export function namesIn(expression: string): Named {
  const tokens: string[] = expression.match(token) ?? [];
  const named: Named = { selectors: [], grouping: [], made: [] };
  for (let at = 0; at < tokens.length; at += 1) {
    const word = tokens[at]!;
    if (!name.test(word) || otherWords.includes(word)) continue;
    const next = tokens[at + 1];
    if (word === "label_replace") named.made.push(secondArgument(tokens, at + 1).slice(1, -1));
    if (groupingWords.includes(word)) {
      const end = next === "(" ? tokens.indexOf(")", at) : at;
      named.grouping.push(...tokens.slice(at, end).slice(2).filter(isName));
      at = end;
    } else if (next === "{") {
      const end = tokens.indexOf("}", at);
      const labels = tokens.slice(at + 2, end).filter((one, i, all) => isName(one) && /[=!]/.test(all[i + 1] ?? ""));
      named.selectors.push({ metric: word, labels });
      at = end;
    } else if (next !== "(" && !groupingWords.includes(next ?? "")) named.selectors.push({ metric: word, labels: [] });
  }
  return named;
}

/** Returns the second argument of the call whose parenthesis opens at this place. */
function secondArgument(tokens: string[], opens: number): string {
  let depth = 0;
  for (let at = opens; at < tokens.length; at += 1) {
    if (tokens[at] === "(") depth += 1;
    if (tokens[at] === ")") depth -= 1;
    if (tokens[at] === "," && depth === 1) return tokens[at + 1]!;
  }
  throw new Error("expected label_replace to have a second argument");
}

function isName(text: string): boolean {
  return name.test(text);
}
