/** Writes the types of `clients/` from the API's description: `make clients`. */
import { writeFileSync } from "node:fs";
import { packagedFile } from "../shared/config/package.js";
import { clientTypes } from "./support/client-types.js";

for (const [path, text] of Object.entries(await clientTypes())) {
  writeFileSync(packagedFile(path), text);
  console.log(`wrote ${path}`);
}
