/** Answers of venues' status feeds, for tests to change. */
import { at, sourceOf } from "./parsed-feed.js";

export const page = {
  id: "kctbh9vrtdwd",
  name: "Kraken",
  url: "https://status.kraken.com",
  time_zone: "Etc/UTC",
  updated_at: "2026-09-04T11:58:00.123Z",
};

export const incident = {
  id: "p31zjtct2jer",
  name: "Connectivity Issues - Derivatives",
  status: "resolved",
  created_at: "2026-08-11T02:10:05.120-07:00",
  updated_at: "2026-08-11T03:40:00.000-07:00",
  monitoring_at: null,
  resolved_at: "2026-08-11T03:40:00.000-07:00",
  impact: "major",
  shortlink: "https://stspg.io/z8c1q2w3e4r5",
  started_at: "2026-08-11T01:55:00.000-07:00",
  page_id: "kctbh9vrtdwd",
  incident_updates: [{ id: "u1", status: "resolved", body: "It was resolved.", affected_components: null }],
  components: [
    { id: "c1", name: "Derivatives", status: "operational", group: false },
    { id: "c2", name: "WebSocket", status: "operational", group: false },
  ],
};

export const kraken = sourceOf("statuspage", { page: "https://status.kraken.com" });

export const incidentsBody = (...incidents: unknown[]) => ({ page, incidents });

export const okx = sourceOf("okx-system-status");

export const okxEntry = {
  title: "Trading account system upgrade (in batches of accounts)",
  state: "completed",
  begin: "1672823400000",
  end: "1672823520000",
  href: "",
  preOpenBegin: "",
  scheDesc: "",
  serviceType: "8",
  system: "unified",
  maintType: "1",
  env: "1",
};

export const okxBody = (...data: unknown[]) => ({ code: "0", msg: "", data });

export const bybit = sourceOf("bybit-system-status");

export const bybitEntry = {
  id: "4d95b2a0-587f-11f0-bcc9-56f28c94d6ea",
  title: "Unified trading upgrade",
  state: "completed",
  begin: "1751596902000",
  end: "1751597011000",
  href: "",
  serviceTypes: [2, 3, 9],
  product: [1, 2],
  uidSuffix: [],
  maintainType: 1,
  env: 1,
};

export const bybitBody = (...list: unknown[]) => ({
  retCode: 0,
  retMsg: "",
  result: { list },
  retExtInfo: {},
  time: +at,
});
