import type { Registry } from "../../shared/registry/registry.js";
import { perDeployment, jsonType, type Operation, perTick } from "./api/operation.js";
import { exampleOf, type Schema, slug, text, venueId } from "./api/shapes.js";
import { presentIds } from "./api/venue-ids.js";
import { embedOperations } from "./badges/badges.js";
import { detectionParameters, detectionResponse } from "./board/detection.js";
import { incidentSamplesParameters, incidentSamplesResponse, incidentSamplesTable } from "./board/incident-samples.js";
import { incidentCache, incidentDetailResponse, slugPattern } from "./board/incident.js";
import { incidentsParameters, incidentsResponse, incidentsTable } from "./board/incidents.js";
import { maintenanceParameters, maintenanceResponse, maintenanceTable } from "./board/maintenance.js";
import { notifyResponse } from "./board/notify.js";
import { regionsResponse } from "./board/regions.js";
import { reliabilityParameters, reliabilityResponse, reliabilityTable } from "./board/reliability.js";
import { healthResponse, openapiResponse } from "./board/service.js";
import { statusParameters, statusResponse } from "./board/status.js";
import {
  attachmentHeader,
  csvSchema,
  decimalParameters,
  formatParameters,
  type TableSchema,
  tableTypes,
  workbookSchema,
} from "./board/tables.js";
import { thresholdsResponse } from "./board/thresholds.js";
import { transfersParameters, transfersResponse, transfersTable } from "./board/transfers.js";
import { venueStateParameters, venueStateResponse } from "./board/venue-state.js";
import { exchangeResponse, venueParameters, venueTable } from "./board/venue.js";
import { eventsParameters, eventStream } from "./events/event-streams.js";
import { feedOperations } from "./feeds/feeds.js";
import { statuspageOperations } from "./statuspage/schemas.js";

/** @param siteUrl base address of the documentation, without a slash at the end */
// eslint-disable-next-line max-lines-per-function -- a flat table, one entry for each operation
export function operations(registry: Registry, siteUrl: string): Operation[] {
  const venue = { ...venueId, enum: [...presentIds(registry).keys()] };
  const venuePage = {
    group: "board",
    names: { venue },
    parameters: { ...venueParameters(registry), ...formatParameters },
    answers: { [jsonType]: exchangeResponse },
    ...perTick,
  } satisfies Partial<Operation>;

  const venueState = {
    group: "board",
    names: { venue },
    parameters: venueStateParameters(registry),
    answers: { [jsonType]: venueStateResponse },
    ...perTick,
  } satisfies Partial<Operation>;

  return [
    {
      id: "getStatus",
      path: "/v1/status",
      group: "board",
      summary: "The live board: every venue with its last ninety days and last 24 hours",
      description:
        "The category narrows the rows and the fleet numbers together; it does not narrow `summary.categories`. Venues that have ended (`entry.endedAt` of /v1/targets/{venue}) are not on the board.",
      parameters: statusParameters,
      answers: { [jsonType]: statusResponse },
      ...perTick,
    },
    {
      id: "getTarget",
      path: "/v1/targets/{venue}",
      summary: "One venue in detail",
      description:
        "`region` selects the vantage point of the latency chart, the endpoints and the streams; `state`, `days` and `uptimePct90d` combine all regions by quorum. With `range=7d` a body may be up to half a minute old while nothing changes, see `generatedAt`. A renamed venue is found under its former ids too; `exchange.id` is the present one. With `format=csv` or `format=xlsx`, the answer is that of /v1/targets/{venue}/days.csv or /v1/targets/{venue}/days.xlsx.",
      ...venuePage,
    },
    {
      id: "getExchange",
      path: "/v1/exchanges/{venue}",
      summary: "The same bytes as /v1/targets/{venue}",
      description:
        "The older path. It is kept indefinitely and not deprecated; prefer /v1/targets/{venue} for new integrations.",
      ...venuePage,
    },
    {
      id: "getTargetState",
      path: "/v1/targets/{venue}/state",
      summary: "The state of one venue and of its components",
      description:
        "For programs that ask often: about a kilobyte, where /v1/targets/{venue} has more than a hundred. With `region`, it is what that region alone sees: one region confirms nothing, but tells a venue that is down from one that does not answer there. The page of an incident is /incidents/{slug}.",
      ...venueState,
    },
    {
      id: "getExchangeState",
      path: "/v1/exchanges/{venue}/state",
      summary: "The same bytes as /v1/targets/{venue}/state",
      ...venueState,
    },
    {
      id: "getEvents",
      path: "/v1/events",
      group: "board",
      summary: "Changes as they are decided, as Server-Sent Events",
      description:
        "Send the id of the last event as `Last-Event-ID`, as EventSource does by itself, and the stream continues after it: nothing is missing within the last day, or `reset` says so. The data of an event never changes. With `region`, `venue` and `component` events are what that region alone sees; there are no incidents among them, and their ids are of the same sequence. An address may have twenty open streams.",
      parameters: eventsParameters(registry),
      answers: { "text/event-stream": eventStream },
      ...perTick,
      cache: noStore,
    },
    {
      id: "listTransfers",
      path: "/v1/transfers",
      group: "board",
      summary: "Which deposits and withdrawals the venues declare open",
      description: `By asset and network, as the venues' own lists have it every five minutes; nothing of it is measured, and it changes no state. \`sources\` names the venues that say it only with an account. With \`format=csv\` or \`format=xlsx\`, the answer is that of /v1/transfers.csv or /v1/transfers.xlsx.`,
      parameters: { ...transfersParameters(registry), ...formatParameters },
      answers: { [jsonType]: transfersResponse },
      ...perTick,
    },
    {
      id: "getTransfers",
      path: "/v1/transfers/{venue}",
      group: "board",
      summary: "Deposits and withdrawals of one venue, with its newest pauses",
      names: { venue },
      answers: { [jsonType]: transfersResponse },
      ...perTick,
    },
    {
      id: "getReliability",
      path: "/v1/reliability",
      group: "history",
      summary: "The venues compared over a window",
      description: `Computed from roll-ups; every definition is at ${siteUrl}/methodology. Venues that have ended are left out. \`fleet\` covers only the rows of this response. A body may be up to half a minute old while nothing changes, see \`generatedAt\`. With \`format=csv\` or \`format=xlsx\`, the answer is that of /v1/reliability.csv or /v1/reliability.xlsx.`,
      parameters: { ...reliabilityParameters, ...formatParameters },
      answers: { [jsonType]: reliabilityResponse },
      ...perTick,
    },
    {
      id: "listIncidents",
      path: "/v1/incidents",
      group: "history",
      summary: "The history of incidents, newest first",
      description:
        "For the next page, pass the last incident's `startedAt` as `before` and its `id` as `beforeId`: several incidents may have started at one instant. A page shorter than `limit` is the last. `beforeId` requires `before`. With `format=csv` or `format=xlsx`, the answer is that of /v1/incidents.csv or /v1/incidents.xlsx.",
      parameters: { ...incidentsParameters(registry), ...formatParameters },
      answers: { [jsonType]: incidentsResponse },
      ...perTick,
    },
    {
      id: "getIncident",
      path: "/v1/incidents/{slug}",
      group: "history",
      summary: "One incident with the votes behind it",
      description:
        "A slug never changes. For a retracted incident, the 404 says when and why it was retracted (`retractedAt`, `reason`); no other response of the API shows it. Feeds replace its entry by the retraction.",
      names: { slug: incidentSlug },
      answers: {
        [jsonType]: incidentDetailResponse,
      },
      ...perTick,
      cache: Object.values(incidentCache),
      retractable: true,
    },
    {
      id: "getIncidentSamples",
      path: "/v1/incidents/{slug}/samples",
      group: "history",
      summary: "The raw samples of an incident, to recompute it",
      description:
        "All that its decisions looked at, oldest first. For the next page, pass the last sample's `slot` as `after` and its `region` as `afterRegion`. A page shorter than `limit` is the last. Samples are kept for eight days: once all of an incident's are older, the answer is a 404 that says so. /checking describes how to recompute the votes. With `format=csv` or `format=xlsx`, the answer is that of /v1/incidents/{slug}/samples.csv or /v1/incidents/{slug}/samples.xlsx.",
      names: { slug: incidentSlug },
      parameters: { ...incidentSamplesParameters, ...formatParameters },
      answers: { [jsonType]: incidentSamplesResponse },
      ...perTick,
      cache: Object.values(incidentCache),
      retractable: true,
    },
    {
      id: "listMaintenance",
      path: "/v1/maintenance",
      group: "history",
      summary: "Maintenance in the venues' own feeds",
      description:
        "Declared, not measured: it changes no state and no incident, but stands beside them. Announcements that name the time only in their text are not listed. With `format=csv` or `format=xlsx`, the answer is that of /v1/maintenance.csv or /v1/maintenance.xlsx.",
      parameters: { ...maintenanceParameters(registry), ...formatParameters },
      answers: { [jsonType]: maintenanceResponse },
      ...perTick,
    },
    {
      id: "getDetection",
      path: "/v1/detection",
      group: "history",
      summary: "Our incidents against the venues' own notices",
      description:
        "Includes which venues are compared, and on how many days. /comparing explains each number, with SQL that recomputes it.",
      parameters: detectionParameters,
      answers: { [jsonType]: detectionResponse },
      ...perTick,
    },
    {
      id: "getNotify",
      path: "/v1/notify",
      group: "history",
      summary: "How soon alerts arrive",
      answers: { [jsonType]: notifyResponse },
      ...perTick,
    },
    ...tableOperations(registry, venue),
    ...feedOperations(venue),
    {
      id: "getRegions",
      path: "/v1/regions",
      group: "method",
      summary: "The fleet of probes and its quorum",
      answers: { [jsonType]: regionsResponse },
      ...perTick,
    },
    {
      id: "getThresholds",
      path: "/v1/thresholds",
      group: "method",
      summary: "The rules of the engine, with their reasons",
      description: `${siteUrl}/rulebook explains each rule. They change only with a deployment, and each change is dated at ${siteUrl}/changelog.`,
      answers: { [jsonType]: thresholdsResponse },
      ...perDeployment,
      limited: true,
    },
    ...statuspageOperations(venue),
    ...embedOperations(registry, venue),
    {
      id: "getMetrics",
      path: "/metrics",
      group: "service",
      summary: "States, latency and open incidents, for Prometheus",
      description:
        "Six families: `svc_component_state`, `svc_component_state_region`, `svc_latency_seconds`, `svc_latency_samples`, `svc_incident_open`, and `svc_transfer_state`, which the venues declare and we do not measure.",
      answers: { "text/plain": expositionAnswer },
      ...perTick,
    },
    {
      id: "getLlmsText",
      path: "/llms.txt",
      group: "agents",
      summary: "What a language model has to know to ask this service",
      description: "In the form of https://llmstxt.org.",
      answers: { "text/plain": llmsTextAnswer },
      ...perDeployment,
      limited: true,
    },
    {
      id: "getHealth",
      path: "/healthz",
      group: "service",
      summary: "Liveness of this program",
      answers: { [jsonType]: healthResponse },
      cache: noStore,
      asksDatabase: false,
      limited: false,
    },
    {
      id: "getOpenapi",
      path: "/openapi.json",
      group: "service",
      summary: "This description",
      answers: { [jsonType]: openapiResponse },
      ...perDeployment,
      limited: false,
    },
  ];
}

const expositionAnswer = text(
  "Prometheus' text format, version 0.0.4.",
  `# HELP svc_component_state State of a component by the quorum of regions: 0 operational, 1 degraded, 2 outage, 3 unknown.
# TYPE svc_component_state gauge
svc_component_state{venue="kraken",component="rest:ticker"} 2
`,
);
const noStore = ["no-store"];
const incidentSlug = { ...slug, pattern: slugPattern.source };

const llmsTextAnswer = text(
  "Markdown: a heading, a summary, and lists of links.",
  "# venuewatch\n\n> Whether an exchange, RPC provider, market data API, oracle, stablecoin, bridge or ramp is down.\n",
);

interface DescribedTable extends Pick<Operation, "group" | "names" | "parameters" | "retractable"> {
  id: string;
  /** Without the ending. */
  path: string;
  summary: string;
  /** Its file name with default parameters. */
  name: string;
  schema: TableSchema;
}

/**
 * Tables, each format at an address of its own: generated clients have one type for each operation, and of an operation
 * that answers JSON or a table they could read only the JSON.
 */
function tableOperations(registry: Registry, venue: Schema<string>): Operation[] {
  const tables: DescribedTable[] = [
    {
      ...{ id: "getTargetDays", path: "/v1/targets/{venue}/days", group: "board", names: { venue } },
      ...{ summary: "Ninety days of one venue", name: `${String(exampleOf(venue))}-days-90`, schema: venueTable },
    },
    {
      ...{ id: "getReliability", path: "/v1/reliability", group: "history", parameters: reliabilityParameters },
      ...{ summary: "The venues compared over a window", name: "all-reliability-days-90", schema: reliabilityTable },
    },
    {
      ...{ id: "listIncidents", path: "/v1/incidents", group: "history", parameters: incidentsParameters(registry) },
      ...{ summary: "The history of incidents", name: "all-incidents-days-90", schema: incidentsTable },
    },
    {
      ...{ id: "getIncidentSamples", path: "/v1/incidents/{slug}/samples", group: "history" },
      ...{ names: { slug: incidentSlug }, parameters: incidentSamplesParameters, retractable: true },
      ...{
        summary: "The raw samples of an incident",
        name: `${String(exampleOf(slug))}-samples`,
        schema: incidentSamplesTable,
      },
    },
    {
      ...{ id: "listMaintenance", path: "/v1/maintenance", group: "history" },
      ...{ parameters: maintenanceParameters(registry), summary: "Maintenance in the venues' own feeds" },
      ...{ name: "all-maintenance", schema: maintenanceTable },
    },
    {
      ...{ id: "listTransfers", path: "/v1/transfers", group: "board", parameters: transfersParameters(registry) },
      ...{ summary: "Deposits and withdrawals", name: "all-transfers", schema: transfersTable },
    },
  ];
  return tables.flatMap(({ id, path, summary, name, schema, parameters, ...described }): Operation[] => [
    {
      ...{ id: `${id}Csv`, path: `${path}.csv`, summary: `${summary}, as CSV`, ...described, ...perTick },
      parameters: { ...parameters, ...decimalParameters },
      answers: { [tableTypes.csv]: csvSchema(schema) },
      attachment: attachmentHeader(name, "2026-01-31", "csv"),
    },
    {
      ...{ id: `${id}Xlsx`, path: `${path}.xlsx`, summary: `${summary}, as a workbook`, ...described, ...perTick },
      ...(parameters && { parameters }),
      answers: { [tableTypes.xlsx]: workbookSchema(schema, `${path}.csv`) },
      attachment: attachmentHeader(name, "2026-01-31", "xlsx"),
    },
  ]);
}
