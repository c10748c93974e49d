/** The Python client's `watch`: what it stands. */
import t from "tap";
import { pythonMissing } from "../../support/python.js";
import { testWatching } from "../../support/watch-cases.js";
import { watchInPython } from "../../support/watching-client.js";

void t.test("on this machine's Python", { skip: pythonMissing }, (t) => {
  testWatching(t, watchInPython);
  t.end();
});
