import type { Complaint } from "./wire-messages.js";
import type { Message } from "./wire-inbox.js";

/**
 * The error for a message that the backend must not get, because it would crash or give a misleading answer; null for
 * any other message.
 */
export function refusalOf(message: Message): Complaint | null {
  if (message.type !== "Q" && message.type !== "P") return null;
  const body = message.bytes.subarray(5);
  if (message.type === "Q") return refusalOfText(body);
  if (body[0] !== 0) return namedStatement;
  return refusalOfText(body.subarray(1));
}

function refusalOfText(body: Buffer): Complaint | null {
  // This search alone clears most texts. It costs 0.2 ms for 1 MB.
  const end = body.indexOf(0);
  const sql = body.toString("latin1", 0, end < 0 ? body.length : end);
  if (!/\b(?:stdin|listen|max_stack_depth)\b/i.test(sql)) return null;
  for (const statement of statementsOf(sql)) {
    if (/^copy\b.*\bfrom stdin\b/.test(statement)) return copyFromStdin;
    if (/^listen\b/.test(statement)) return listen;
    if (/^set (?:session |local )?max_stack_depth\b/.test(statement)) return stackDepth;
  }
  return null;
}

const copyFromStdin: Complaint = {
  severity: "ERROR",
  code: "0A000",
  message: "COPY FROM STDIN is not supported by the embedded database",
  hint: "Use INSERT … SELECT FROM unnest($1::…[], …), or a TimescaleDB server.",
};

const listen: Complaint = {
  severity: "ERROR",
  code: "0A000",
  message:
    "LISTEN is not supported by the embedded database: its clients share one session, and notifications would reach the wrong one",
  hint: "Poll, or use a TimescaleDB server.",
};

/**
 * Prevents an accident that would corrupt the memory. Only superusers may set it, and they have other ways
 * (set_config).
 */
const stackDepth: Complaint = {
  severity: "ERROR",
  code: "0A000",
  message: "max_stack_depth cannot be changed: the embedded database has a stack of a fixed size",
};

const namedStatement: Complaint = {
  severity: "ERROR",
  code: "0A000",
  message:
    "named prepared statements are not supported by the embedded database: its clients share one session, so they would share the names",
  hint: "Turn prepared statements off in the client, as with a transaction pooler.",
};

/** Each alternative matches one token of SQL. The last one matches any other character. */
const token =
  /\s+|--[^\n]*|(\/\*)|[eE]'(?:\\.|''|[^'\\])*'|'(?:''|[^'])*'|"(?:""|[^"])*"|(\$(?:[A-Za-z_\x80-\xff][\w\x80-\xff]*)?\$)|([A-Za-z_\x80-\xff][\w$\x80-\xff]*)|[^]/y;

/**
 * The unquoted words of each statement in lower case, joined by a space. Comments, literals and quoted names are left
 * out.
 */
function statementsOf(sql: string): string[] {
  const statements: string[][] = [[]];
  token.lastIndex = 0;
  for (let found = token.exec(sql); found; found = token.exec(sql)) {
    const [whole, comment, dollarTag, word] = found;
    if (comment) token.lastIndex = endOfComment(sql, token.lastIndex);
    else if (dollarTag) token.lastIndex = endOfLiteral(sql, dollarTag, token.lastIndex);
    else if (word) statements.at(-1)!.push(word.toLowerCase());
    else if (whole === ";") statements.push([]);
  }
  return statements.map((words) => words.join(" "));
}

/** Comments nest in PostgreSQL. */
function endOfComment(sql: string, start: number): number {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start;
  for (let depth = 1; depth > 0;) {
    const found = edge.exec(sql);
    if (!found) return sql.length;
    depth += found[0] === "/*" ? 1 : -1;
  }
  return edge.lastIndex;
}

function endOfLiteral(sql: string, tag: string, start: number): number {
  const end = sql.indexOf(tag, start);
  return end < 0 ? sql.length : end + tag.length;
}
