import t from "tap";
import { playScenarios } from "../../../support/play-scenarios.js";

// a separate file, so that it runs in parallel with the states' scenarios: together they would be the longest test
void t.test("the engine decides incidents as each scenario says", (t) => playScenarios(t, (chapter) => chapter >= 6));
