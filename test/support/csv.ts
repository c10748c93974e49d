/** A strict CSV reader: RFC 4180 to the letter, with a header. */

/**
 * @param separator of fields
 * @returns an object for each row, by the header's names
 * @throws Error at what RFC 4180 does not allow, or where a row has another number of fields than the header
 */
export function parseCsv(text: string, separator = ","): Record<string, string>[] {
  const [header, ...rows] = recordsOf(text, separator);
  if (!header) throw new Error("expected a header, got an empty text");
  if (new Set(header).size < header.length) throw new Error(`a column appears twice in the header: ${header.join()}`);
  return rows.map((fields, nth) => {
    if (fields.length !== header.length)
      throw new Error(`row ${nth + 1}: expected ${header.length} fields, got ${fields.length}`);
    return Object.fromEntries(header.map((name, i) => [name, fields[i]!]));
  });
}

export function headerOf(text: string, separator = ","): string[] {
  return recordsOf(text, separator)[0] ?? [];
}

function recordsOf(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let fields: string[] = [];
  let at = 0;
  while (at < text.length) {
    const [field, end] = text[at] === '"' ? quotedField(text, at) : plainField(text, at, separator);
    fields.push(field);
    if (text[end] === separator) {
      at = end + 1;
      // another field must follow a separator, even if it is empty and the last one
      if (at === text.length) throw wrong(text, at, "a field");
    } else if (text.startsWith("\r\n", end)) {
      at = end + 2;
      records.push(fields);
      fields = [];
    } else throw wrong(text, end, `${separator} or CRLF`);
  }
  return records;
}

function quotedField(text: string, from: number): [string, number] {
  let field = "";
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') field += text[at];
    else if (text[at + 1] === '"') {
      field += '"';
      at++;
    } else return [field, at + 1];
  }
  throw wrong(text, text.length, "a closing quote");
}

function plainField(text: string, from: number, separator: string): [string, number] {
  let end = from;
  while (end < text.length && text[end] !== separator && !/["\r\n]/.test(text[end]!)) end++;
  return [text.slice(from, end), end];
}

function wrong(text: string, at: number, expected: string): Error {
  const got = JSON.stringify(text.slice(at, at + 20));
  return new Error(`at ${at}: expected ${expected}, got ${got}`);
}
