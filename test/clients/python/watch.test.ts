/** The Python client's `watch` under faults of the service. */
import t from "tap";
import { pythonMissing } from "../../support/python.js";
import { testWatching } from "../../support/watch-cases.js";
import { watchInPython } from "../../support/watching-client.js";

void t.test("the Python client's watch withstands faults, on this machine's Python", { skip: pythonMissing }, (t) => {
  testWatching(t, watchInPython);
  t.end();
});
