import t from "tap";
import { makeSeenCertificates } from "../../probe/probe.js";

const expiresAt = (day: number) => new Date(Date.UTC(2026, 10, day));

void t.test("each component's last certificate is reported while the probe still connects to it", (t) => {
  let nowMs = 0;
  const certificates = makeSeenCertificates(() => nowMs);
  const see = (component: string, certificateExpiresAt: Date | null) =>
    certificates.see({ venue: "a", component, certificateExpiresAt });
  see("rest:book", expiresAt(20));
  see("rest:time", expiresAt(20));
  see("rest:time", null);
  see("rest:book", expiresAt(28));
  const [book, time] = certificates.all();
  t.match(book, { component: "rest:book", expiresAt: expiresAt(28) });
  t.match(time, { component: "rest:time", expiresAt: expiresAt(20) });
  t.equal(certificates.all().length, 2);
  nowMs = 24 * 60 * 60_000;
  see("rest:book", expiresAt(28));
  nowMs += 2 * 60 * 60_000;
  t.match(certificates.all(), [{ component: "rest:book" }]);
  t.equal(certificates.all().length, 1);
  t.end();
});
