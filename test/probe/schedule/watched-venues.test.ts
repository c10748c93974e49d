/** Which venues a probe measures, and until when. */
import t from "tap";
import { makeWatchedVenues } from "../../../probe/schedule/watched-venues.js";
import type { Venue } from "../../../shared/registry/registry.js";
import { makeFakeClock } from "../../support/fake-clock.js";
import { endpointAt, serve } from "../../support/measured-endpoint.js";
import { okx, serveSockets } from "../../support/okx-server.js";
import { startRecordingProbe } from "../../support/recording-probe.js";
import { simplestVenue } from "../../support/simplest-venue.js";
import { until } from "../../support/until.js";

const dayMs = 86_400_000;

const ends = (date: string) => ({ endedAt: { date, what: "It closes.", source: "its announcement" } });

/** Watches venues, and says what is begun and ended. */
function watching(startAt: string, ...venues: Venue[]) {
  const said: string[] = [];
  const { clock, walk } = makeFakeClock(Date.parse(startAt));
  const begin = ({ id }: Venue) => {
    said.push(`${id} begins`);
    return { socketsOpen: () => 0, end: () => Promise.resolve(void said.push(`${id} ends`)) };
  };
  const all = makeWatchedVenues(venues, begin, clock);
  const ids = venues.map(({ id }) => id);
  return { said, walk, watched: all.watched, watch: () => all.watchOnly(ids) };
}

void t.test("a venue is measured until the day of its end", async (t) => {
  const stays = simplestVenue("stays");
  const leaves = { ...simplestVenue("leaves"), ...ends("2026-12-20") };
  const { said, walk, watch, watched } = watching("2026-11-19T12:00:00Z", stays, leaves);
  watch();
  await walk(30 * dayMs);
  t.same(said, ["stays begins", "leaves begins"], "also where its end is too far away for a timer");
  await walk(0.5 * dayMs);
  t.same(said, ["stays begins", "leaves begins", "leaves ends"], "without another word of the database");
  watch();
  t.same([...watched.keys()], ["stays"], "and not again, whoever asks for it");
});

void t.test("one that has ended is never begun", (t) => {
  const { said, watch } = watching("2026-09-23T00:00:00Z", { ...simplestVenue("gone"), ...ends("2026-09-23") });
  watch();
  t.same(said, []);
  t.end();
});

void t.test("a probe opens no socket of a venue that has ended, and sends it nothing", async (t) => {
  const asked: string[] = [];
  const root = await serve(t, (request, response) => {
    asked.push(request.url!);
    response.end(`{"price":1}`);
  });
  let opened = 0;
  const { url } = await serveSockets(t, () => (opened += 1));
  const endpoint = (path: string) => endpointAt(new URL(path, root).href, { cadenceMs: 500, timeoutMs: 400 });
  const gone = { ...okx, rest: [endpoint("/gone")], socket: { ...okx.socket!, url }, ...ends("2026-09-23") };
  const other = { ...okx, id: "other", rest: [endpoint("/other")], socket: null };
  const regions = [{ id: "eu-central", name: "Central Europe" }];
  const { samples, probe } = await startRecordingProbe(t, { probeIntervalMs: 5000, regions, venues: [gone, other] });
  await until(() => samples.length >= 3);
  t.same([...new Set(samples.map(({ venue }) => venue))], ["other"]);
  t.same([...new Set(asked)], ["/other"]);
  t.equal(opened, 0);
  probe.watch(["okx", "other"]);
  t.same(probe.status().watching, ["other"], "also if a database from before its end gives it");
});
