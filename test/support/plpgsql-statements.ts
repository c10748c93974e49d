/**
 * The SQL in a body of PL/pgSQL: its statements and expressions, each as a statement. PostgreSQL hands these to the
 * parser of SQL, too, when it creates the function. Texts are replaced, because they may contain anything.
 */
export function statementsOfPlpgsql(body: string): string[] {
  return pieces(
    body.replace(/--[^\n]*|(\$\w*\$).*?\1|'(?:[^']|'')*'/gs, (text) => (text.startsWith("--") ? "" : "'x'")),
  )
    .map(statementOf)
    .filter((statement) => statement !== "");
}

const between = ["then", "else", "elsif", "loop", "begin", "declare", "exception"];

/** What stands between the words and semicolons of PL/pgSQL, not within parentheses or a case expression of SQL. */
function pieces(body: string): string[] {
  const all = [""];
  let depth = 0;
  let cases = 0;
  for (const [token] of body.matchAll(/\w+|\W/g)) {
    const word = token.toLowerCase();
    if (word === "(" || word === "[") depth++;
    if (word === ")" || word === "]") depth--;
    if (word === "case") cases++;
    const endsCase = word === "end" && cases > 0;
    if (endsCase) cases--;
    const ends = depth === 0 && cases === 0 && !endsCase && (word === ";" || between.includes(word));
    if (ends) all.push(word === "elsif" ? "if" : "");
    else all.push(all.pop() + token);
  }
  return all.map((piece) => piece.trim());
}

const target = String.raw`\s+into\s+(?:strict\s+)?[\w.]+(?:\s*,\s*[\w.]+)*`;

function statementOf(piece: string): string {
  const [, loop] = /^for(?:each)?\s.*?\sin\s+(?:array\s+)?(.*)$/is.exec(piece) ?? [];
  // of rows, of a dynamic statement, or of numbers
  if (/^execute\s/i.test(loop ?? "")) return statementOf(loop!);
  if (loop !== undefined) return /^(select|with|insert|update|delete)\s/i.test(loop) ? loop : expressions(loop);
  const [, query] = /^return\s+query\s+(.*)$/is.exec(piece) ?? [];
  if (query !== undefined) return query;
  if (/^perform\s/i.test(piece)) return piece.replace(/^perform/i, "select");
  if (/^(select|with)\s/i.test(piece)) return piece.replace(new RegExp(`${target}(?=\\s+from\\s|\\s*$)`, "i"), "");
  if (/^(insert|update|delete|merge)\s/i.test(piece))
    return piece.replace(new RegExp(`(\\sreturning\\s.*)${target}`, "is"), "$1");
  if (/^(call|lock|set|create|drop|alter|truncate|analyze|vacuum|grant|revoke)\s/i.test(piece)) return piece;
  const [, list] = /^(?:execute|raise\s+\w+)\s+(.*)$/is.exec(piece) ?? [];
  if (list !== undefined) return expressions(list.replace(/\susing\s+(?:\w+\s*=)?/i, ", "));
  const [, expression] =
    /^(?:if|while|return\s+next|return|exit\s+when)\s+(.*)$/is.exec(piece) ??
    // an assignment, or the declaration of a variable
    /^[\w.[\]\s]+:=(.*)$/s.exec(piece) ??
    [];
  return expression === undefined ? "" : expressions(expression);
}

function expressions(text: string): string {
  return `select ${text.replace(new RegExp(target, "i"), "").replace("..", ", ")}`;
}
