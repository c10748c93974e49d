/** Texts of the documents' pages and of the reference of the API. */
/** What each document is about; its title stands in the document. */
export const documentWords = {
  methodology: "How each published number is computed, and from what.",
  rulebook: "How samples become states and incidents, exactly enough to write a second engine.",
  checking: "How to recompute a verdict by hand.",
  comparing: "What the venues say themselves, and how our incidents compare with it.",
  receiving: "For receivers of alerts: what an alert contains, how to verify it, and when it is sent again.",
  changelog: "What changed in each version. Changes of the rules are dated here.",
};

export type DocumentName = keyof typeof documentWords;

export const docsWords = {
  title: "Documentation",
  documents: "Documents",
  apiSentence:
    "Everything on these pages is also public as JSON, without a key. The reference has every address, parameter and field, with examples to copy.",
  reference: "API reference",
  openapi: "The same as an OpenAPI document, for generators of clients",
  asText: "This page as plain text",
  contents: "Contents",
  table: (columns: string) => `Table: ${columns}`,
};

export const referenceWords = {
  base: "All addresses are below this one:",
  parametersOf: (name: string) => `Parameters of ${name}`,
  headersOf: (name: string) => `Headers of ${name}`,
  headers: "Headers",
  name: "Name",
  type: "Type",
  values: "Values",
  defaultValue: "Default",
  meaning: "Meaning",
  example: "Example",
  required: "required",
  none: "none",
  examples: "Examples to copy",
  otherLanguages: "In JavaScript and Python",
  response: "Response",
  body: "Body",
  sameFields: "The fields are those of",
  fieldsOf: (name: string) => `Fields of ${name}`,
  columns: "Columns",
  caches: "Caching:",
  otherAnswers: "Other answers:",
  anyError: "errors of any request",
  toReceiver: "to your receiver of alerts",
  receiverAnswers: "What your answer means",
  anyOther: "other",
  answers: "Errors and other answers",
  retracted: (status: string) => `${status} of an incident`,
  ofMcp: (status: string) => `${status} of /mcp`,
  answersSentence: "The body of an error has these fields:",
  status: "Status",
  schemas: "Shared types",
  optional: "may be absent",
  listOf: "list of",
  countsBy: "an integer for any of",
  any: "any value",
  instant: "instant, ISO 8601 in UTC",
  day: "UTC day",
  or: " or ",
  moreValues: (count: number) => `and ${count} more`,
  from: (least: number) => `${least} or more`,
  between: (least: number, most: number) => `${least} to ${most}`,
};
