import t from "tap";
import { playScenarios } from "../../support/play-scenarios.js";

// a separate file, so that it runs in parallel with the states' scenarios: together they were the longest test
void t.test("incidents, scenario by scenario", (t) => playScenarios(t, (chapter) => chapter >= 6));
