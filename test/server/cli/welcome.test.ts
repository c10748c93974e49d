import t from "tap";
import { welcome } from "../../../server/cli/welcome.js";

const at = (...regions: string[]) => ({
  ...{ web: "http://web", core: "http://core" },
  probes: new Map(regions.map((region) => [region, `http://${region}`])),
});

void t.test("the welcome begins with the board, the API and the documentation", (t) => {
  const [, first, ...rows] = welcome(null, at("eu-central")).trim().split("\n");
  t.match(first, /board, in a browser +http:\/\/web\/$/);
  t.match(rows[0], /API +http:\/\/web\/v1\/status$/);
  t.match(rows[1], /documentation +http:\/\/web\/docs$/);
  t.end();
});

void t.test("the welcome calls several regions on one machine one vantage", (t) => {
  const text = welcome(null, at("eu-central", "us-east"));
  t.match(text, "These 2 regions are probed from this one machine");
  t.match(text, "they are one vantage");
  t.match(text, /REGION=us-east VANTAGE=".*" DATABASE_URL=… venuewatch probe/);
  t.notMatch(text, "docs/moving.md");
  t.match(
    welcome("psql postgres://embedded", at("eu-central", "us-east")),
    "docs/moving.md",
    "no address outside the machine for the embedded database",
  );
  t.notMatch(welcome(null, at("eu-central")), "vantage", "a single region is not called a vantage");
  t.end();
});
