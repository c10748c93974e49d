/** Runs before all tests. */
import { prepareDatabase } from "./database.js";

await prepareDatabase();
