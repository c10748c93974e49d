import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import t, { type Test } from "tap";
import { readinessOf, startHealth, type ReadinessCheck } from "../../../server/process/health.js";
import { makeLog } from "../../../shared/log/log.js";
import { makeOwnMetrics } from "../../../shared/log/own-metrics.js";
import { version } from "../../../shared/config/package.js";
import { until } from "../../support/until.js";

const well = { ready: true, checks: { database: { ok: true, detail: "answers" } } };
const ready: ReadinessCheck = () => Promise.resolve(well);

void t.test("/healthz reports that the program runs", async (t) => {
  const { url } = await serve(t, ready);
  const response = await fetch(`${url}/healthz`);
  t.equal(response.status, 200);
  t.match(Object.fromEntries(response.headers), { "cache-control": "no-store", "content-type": "application/json" });
  const body = (await response.json()) as Record<string, unknown>;
  t.match(body, { status: "ok", service: "probe", version, time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ });
  t.equal(body["generatedAt"], body["time"]);
  t.ok(Number.isInteger(body["uptimeSeconds"]));
});

void t.test("/healthz answers while readiness hangs, as it needs no database", async (t) => {
  const { url } = await serve(t, () => new Promise(() => {}));
  t.equal((await fetch(`${url}/healthz`)).status, 200);
});

void t.test("/readyz distinguishes ready from not ready, and names the problem", async (t) => {
  const ill = { ready: false, checks: { database: { ok: false, detail: "connection refused" } } };
  for (const [result, status] of [
    [well, 200],
    [ill, 503],
  ] as const) {
    const { url } = await serve(t, () => Promise.resolve(result));
    const response = await fetch(`${url}/readyz`);
    t.equal(response.status, status);
    t.same(await response.json(), result);
  }
});

void t.test("a check that throws is not ready, and is logged as a bug", async (t) => {
  const lines: string[] = [];
  const { url } = await serve(t, () => Promise.reject(new Error("oops")), lines);
  t.equal((await fetch(`${url}/readyz`)).status, 503);
  t.match(lines.join(), /error test: readiness check failed .*oops/);
});

void t.test("a hanging check is answered after its timeout", async (t) => {
  const hanging: ReadinessCheck = () => new Promise(() => {});
  t.match(await readinessOf(hanging, makeLog("test"), 10), {
    ready: false,
    checks: { readiness: { ok: false, detail: "no answer within 10 ms" } },
  });
});

void t.test("concurrent requests share one check", async (t) => {
  let checks = 0;
  const { url, port } = await serve(t, async () => {
    checks += 1;
    await nextTurn(); // by then all that came in one piece have asked
    return well;
  });
  const socket = connect(port, "127.0.0.1");
  const request = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n";
  socket.write(`${request}\r\n`.repeat(19) + `${request}Connection: close\r\n\r\n`);
  t.equal((await text(socket)).match(/HTTP\/1.1 200/g)?.length, 20);
  t.equal(checks, 1);
  t.equal((await fetch(`${url}/readyz`)).status, 200);
  t.equal(checks, 2, "a later request runs a new check");
});

void t.test("other paths and methods are refused", async (t) => {
  const { url } = await serve(t, ready);
  const missing = await fetch(`${url}/`);
  t.match(await missing.json(), { status: 404, title: "Not Found" });
  t.match(missing.headers.get("content-type"), "application/problem+json");
  const posted = await fetch(`${url}/healthz`, { method: "POST" });
  t.same([missing.status, posted.status, posted.headers.get("allow")], [404, 405, "GET, HEAD"]);
  const head = await fetch(`${url}/healthz?deep=1`, { method: "HEAD" });
  t.same([head.status, await head.text()], [200, ""]);
});

void t.test("closing does not wait for kept connections", async (t) => {
  const { url, close } = await serve(t, ready);
  await (await fetch(`${url}/healthz`)).text();
  await close();
  await t.rejects(fetch(`${url}/healthz`));
});

void t.test("the server listens on its own address, with few connections", async (t) => {
  const { port } = await serve(t, ready);
  if (process.platform === "linux") {
    const elsewhere = connect(port, "127.0.0.2");
    const [error] = (await once(elsewhere, "error")) as [Error];
    t.match(error, { code: "ECONNREFUSED" });
  }
  const sockets = Array.from({ length: 70 }, () => connect(port, "127.0.0.1"));
  t.teardown(() => sockets.forEach((socket) => socket.destroy()));
  let closed = 0;
  for (const socket of sockets) {
    socket.on("close", () => (closed += 1));
    socket.on("error", () => {});
    socket.resume();
  }
  await until(() => closed >= 6);
  t.equal(closed, 6, "connections beyond the limit of 64 are closed");
});

async function serve(t: Test, check: ReadinessCheck, lines: string[] = []) {
  const health = await startHealth({
    ...{ service: "probe", port: 0, host: "127.0.0.1", ready: check },
    metrics: makeOwnMetrics("probe"),
    log: makeLog("test", "info", (line) => lines.push(line)),
  });
  t.teardown(health.close);
  return { ...health, url: `http://127.0.0.1:${health.port}` };
}
