/**
 * Creates the database in the directory that is the argument, and ends. initdb and its backend leave 47 MiB in a process, and catalogue rows
 * that were read before their rights were granted: so what serves the database opens it in another.
 */
import { tellSupervisor, whenSupervisorIsGone } from "../supervised.js";
import { type ExitCode, exitCodes } from "../user-error.js";
import { startBackend } from "./backend.js";

const longestRequestMs = 60_000;

whenSupervisorIsGone(() => process.exit(exitCodes.bug));
process.exit(await create(process.argv[2]!));

async function create(directory: string): Promise<ExitCode> {
  try {
    await (await startBackend(directory, longestRequestMs)).close();
    return exitCodes.done;
  } catch (error) {
    await tellSupervisor({ refused: (error as Error).message });
    return exitCodes.bug;
  }
}
