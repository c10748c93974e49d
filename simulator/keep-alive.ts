/** The rules by which venues distinguish living clients from dead connections. All times are the venue's. */
import type { VenueSession, Timer } from "./player.js";

/** Sends protocol pings and drops a client that leaves a ping unanswered for `pongWithinMs`. */
export function pingOrDrop(session: VenueSession, everyMs: number, pongWithinMs: number): void {
  let awaited: Timer | null = null;
  session.ws.on("pong", pongCame);
  session.every(everyMs, pingNow);

  function pingNow() {
    session.ping();
    awaited ??= session.after(pongWithinMs, () => session.drop(`no pong within ${pongWithinMs} ms of a ping`, null));
  }
  function pongCame() {
    awaited?.cancel();
    awaited = null;
  }
}

/** Sends protocol pings and notes a missing pong: no document says that this venue drops such a client. */
export function pingOrNote(session: VenueSession, everyMs: number): void {
  let awaited = false;
  session.ws.on("pong", () => (awaited = false));
  session.every(everyMs, pingNow);

  function pingNow() {
    if (awaited) session.note(`no pong within ${everyMs} ms of a ping`);
    awaited = true;
    session.ping();
  }
}

/** Drops the client unless the returned function is called at least once every `withinMs`. */
export function dropAfter(
  session: VenueSession,
  withinMs: number,
  missed: string,
  code: number | null,
  reason?: string,
): () => void {
  const timer = session.after(withinMs, () => session.drop(`${missed} for ${withinMs} ms`, code, reason));
  return () => timer.refresh();
}

/** Drops a client that sends more frames within a second than the venue allows. Pings and pongs count. */
export function limitFrames(session: VenueSession, perSecond: number): void {
  let frames = 0;
  for (const event of ["message", "ping", "pong"]) session.ws.on(event, count);
  session.every(1000, () => (frames = 0));

  function count() {
    frames += 1;
    if (frames === perSecond + 1) session.drop(`more than ${perSecond} frames in a second`, 1008);
  }
}
