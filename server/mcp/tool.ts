/** A tool of agents: what it takes, what it answers, and how a call of it ends. */
import { Ajv, type ValidateFunction } from "ajv";
import type { SchemaObject } from "openapi3-ts/oas31";
import type { Schema, TypeOf } from "../api/schemas/shapes.js";
import { type AgentSource, BadArgument } from "./agent-source.js";
import { faultsIn } from "./bad-arguments.js";

export interface ToolAnswer<Data = unknown> {
  /** In sentences. Texts of venues occur in it only as `namedVenue` writes them. */
  text: string;
  data: Data;
}

export interface AgentTool {
  name: string;
  title: string;
  description: string;
  inputSchema: SchemaObject;
  outputSchema: SchemaObject;
  /** Whether answers contain texts of the venues themselves. */
  quotesVenues: boolean;
  /**
   * @param given whatever the client sent as arguments
   * @throws BadArgument, NoData
   */
  answer(given: unknown, source: AgentSource): Promise<ToolAnswer>;
}

interface ToolParts<Input extends Schema, Output extends Schema> extends Omit<
  AgentTool,
  "inputSchema" | "outputSchema" | "answer"
> {
  input: Input;
  output: Output;
  answer: (given: TypeOf<Input>, source: AgentSource) => Promise<ToolAnswer<TypeOf<Output>>>;
}

/** Makes a tool whose arguments are checked before it sees them. */
export function makeTool<Input extends Schema, Output extends Schema>({
  input,
  output,
  answer,
  ...rest
}: ToolParts<Input, Output>): AgentTool {
  // closed: a misspelt argument that is ignored would change the question
  const inputSchema = { ...(input as SchemaObject), additionalProperties: false };
  // on first use: most programs that load this are never asked
  let check: ValidateFunction<TypeOf<Input>> | undefined;
  return {
    ...rest,
    inputSchema,
    outputSchema: output,
    async answer(given, source) {
      check ??= new Ajv({ allErrors: true, verbose: true }).compile<TypeOf<Input>>(inputSchema);
      const values = given ?? {};
      if (!check(values)) throw new BadArgument(faultsIn(check.errors!, inputSchema));
      return answer(values, source);
    },
  };
}
