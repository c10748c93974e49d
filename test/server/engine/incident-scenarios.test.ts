import t from "tap";
import { playScenarios } from "../../support/play-scenarios.js";

// a file of its own, so that it runs beside the states' scenarios: together they were the longest test
void t.test("incidents, scenario by scenario", (t) => playScenarios(t, (chapter) => chapter >= 6));
