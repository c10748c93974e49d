/**
 * Refuses statements that would end the database or give a misleading answer.
 *
 * PostgreSQL calls ProcessUtility_hook with the parsed tree of every statement that is no query, however it was spelt
 * and wherever it stands: in a text of several statements, a prepared one, a function, or a DO block that assembles it.
 * A filter of the text would need a second lexer, and each difference between the two would be a way past it. Our
 * function calls the hook of TimescaleDB, which handles COPY into hypertables by itself.
 */

/** The part of the module that we need. */
export interface HookedModule {
  HEAPU8: Uint8Array;
  HEAP32: Int32Array;
  _ProcessUtility_hook: number;
  _object_access_hook: number;
  addFunction(call: (first: number, ...rest: number[]) => void, signature: string): number;
  _malloc(bytes: number): number;
  _errstart(level: number, domain: number): number;
  _errcode(code: number): number;
  _errmsg_internal(format: number, values: number): number;
  _errhint(format: number, values: number): number;
  _errfinish(file: number, line: number, routine: number): void;
}

/** WebAssembly's table of functions; the value of a function pointer is an index into it. */
export interface FunctionTable {
  get(index: number): (...words: number[]) => void;
}

/** Whether neither PostgreSQL nor TimescaleDB has a setting of this name. */
export type IsUnknown = (setting: string) => boolean;

interface Refusal {
  /** A statement that is refused, for the check at the start. */
  example: string;
  /** Whether superusers may. */
  onlyForOthers: boolean;
  /** @param word reads the statement's node by the number of the word; absent: always */
  applies?: (word: (number: number) => number, text: (address: number) => string, isUnknown: IsUnknown) => boolean;
  message: string;
  hint: string;
}

/**
 * By NodeTag of PostgreSQL 17. Each node begins with it.
 *
 * A setting that PostgreSQL does not know is remembered until the backend ends. Half a million of them, made within one
 * turn, could not be undone in time.
 */
const refusals: [nodeTag: number, Refusal][] = [
  [
    154, // CopyStmt: … is_from, is_program, filename; its input would be messages, of which this build has none
    {
      example: "COPY pg_temp.nothing FROM STDIN",
      onlyForOthers: false,
      applies: (word) => (word(4) & 0xffff) === 1 && word(5) === 0,
      message: "COPY FROM STDIN is not supported by the embedded database",
      hint: "Use INSERT … SELECT FROM unnest($1::…[], …), or a TimescaleDB server.",
    },
  ],
  [
    220, // ListenStmt
    {
      example: "LISTEN nothing",
      onlyForOthers: false,
      message:
        "LISTEN is not supported by the embedded database: its clients share one session, and notifications would reach the wrong one",
      hint: "Poll, or use a TimescaleDB server.",
    },
  ],
  [
    155, // VariableSetStmt: kind, name, …; prevents an accident of superusers that would corrupt the memory
    {
      example: "SET max_stack_depth = '2MB'",
      onlyForOthers: false,
      applies: (word, text) => word(2) !== 0 && /^max_stack_depth$/i.test(text(word(2))),
      message: "max_stack_depth cannot be changed: the embedded database has a stack of a fixed size",
      hint: "Nest the statement less deeply.",
    },
  ],
  [
    155,
    {
      example: "SET my.setting = ''",
      onlyForOthers: true,
      applies: (word, text, isUnknown) => word(2) !== 0 && isUnknown(text(word(2))),
      message: "the embedded database has only PostgreSQL's and TimescaleDB's own settings",
      hint: "Pass the value as a parameter.",
    },
  ],
  [
    184, // AlterRoleSetStmt
    {
      example: "ALTER ROLE CURRENT_USER SET my.setting = ''",
      onlyForOthers: true,
      message: "settings of a role are not supported by the embedded database",
      hint: "Use SET, or a parameter of the connection.",
    },
  ],
];

const setConfig: Refusal = {
  example: "SELECT set_config('timezone', 'UTC', false)",
  onlyForOthers: true,
  message: "set_config is not supported by the embedded database",
  hint: "Use SET.",
};
/** OAT_FUNCTION_EXECUTE */
const functionIsExecuted = 4;
const oidOfSetConfig = 2078;

const featureNotSupported = "0A000";
const errorLevel = 21;
/** Of PlannedStmt, which wraps every statement: the word with the address of a statement that is no query. */
const utilityStatement = 18;

/**
 * To be called when TimescaleDB has been loaded.
 *
 * @param isOther whether the statement of a client is running that is no superuser
 * @param codeOf the SQLSTATE with which a statement fails; null if it succeeds
 */
export function refuseStatements(
  module: HookedModule,
  table: FunctionTable,
  isOther: () => boolean,
  isUnknown: IsUnknown,
  codeOf: (sql: string) => string | null,
): void {
  const onUtility = module._ProcessUtility_hook >> 2;
  const onAccess = module._object_access_hook >> 2;
  const nextUtility = table.get(module.HEAP32[onUtility]!);
  let isChecking = true;
  const word = (address: number, number: number) => module.HEAP32[(address >> 2) + number]!;
  const textAt = (address: number) => {
    const end = module.HEAPU8.indexOf(0, address);
    return Buffer.from(module.HEAPU8.subarray(address, end)).toString();
  };
  const texts = new Map<string, number>();

  function addressOf(text: string): number {
    const bytes = Buffer.from(`${text}\0`);
    const address = texts.get(text) ?? module._malloc(bytes.length);
    module.HEAPU8.set(bytes, address);
    texts.set(text, address);
    return address;
  }

  /** Does not return: PostgreSQL leaves our function by an exception. */
  function raise({ message, hint }: Refusal): void {
    module._errstart(errorLevel, 0);
    module._errcode(encoded(featureNotSupported));
    module._errmsg_internal(addressOf(message), 0);
    module._errhint(addressOf(hint), 0);
    module._errfinish(addressOf("refused-statements.ts"), 0, addressOf("refuseStatements"));
  }

  function processUtility(planned: number, ...rest: number[]): void {
    const statement = word(planned, utilityStatement);
    const nodeTag = word(statement, 0);
    for (const [tag, refusal] of refusals)
      if (tag === nodeTag && concerns(refusal) && applies(refusal, statement)) raise(refusal);
    nextUtility(planned, ...rest);
  }

  function applies(refusal: Refusal, statement: number): boolean {
    return refusal.applies?.((number) => word(statement, number), textAt, isUnknown) ?? true;
  }

  function concerns({ onlyForOthers }: Refusal): boolean {
    return !onlyForOthers || isChecking || isOther();
  }

  function accessObject(access: number, _catalogue: number, oid: number): void {
    if (access === functionIsExecuted && oid === oidOfSetConfig && concerns(setConfig)) raise(setConfig);
  }

  if (module.HEAP32[onAccess] !== 0)
    throw new Error("expected no function at object_access_hook, got one: this is a different build of TimescaleDB");
  module.HEAP32[onUtility] = module.addFunction(processUtility, "viiiiiiii");
  module.HEAP32[onAccess] = module.addFunction(accessObject, "viiiii");
  for (const { example } of [...refusals.map(([, refusal]) => refusal), setConfig])
    if (codeOf(example) !== featureNotSupported)
      throw new Error(`expected "${example}" to be refused, but it was not: this is a different build of PostgreSQL`);
  isChecking = false;
  for (const allowed of ["COPY (SELECT 1) TO STDOUT", "UNLISTEN *", "SET work_mem = '16MB'", setConfig.example])
    if (codeOf(allowed) !== null)
      throw new Error(`expected "${allowed}" to succeed, but it failed: this is a different build of PostgreSQL`);
}

/** An SQLSTATE as PostgreSQL stores it: six bits for each character. */
function encoded(state: string): number {
  return [...state].reduceRight((code, character) => (code << 6) | ((character.charCodeAt(0) - 48) & 63), 0);
}
