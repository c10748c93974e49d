import { type UnmeasuredReason, unmeasuredReasons } from "../../../shared/measurement/unmeasured.js";
import { Instant } from "../parts/instant.js";
import type { RegionSummary } from "../parts/region-health.js";
import { isolated } from "../parts/isolated.js";
import { regionsWords } from "../words.js";
import { clockText } from "./clock-text.js";
import { vantageText } from "../parts/vantage-text.js";
import { TableFrame } from "../parts/table-frame.js";

const reasonMeanings = {
  overlap: "the measurement before was still running",
  late: "started too late: the process was busy, or the machine slept",
  starved: "the process got no time to run while it measured",
  resolver: "no name could be resolved",
  network: "no way out of the machine, or no venue at all answered",
  sockets: "no free socket, port or memory",
  paused: "a pause of ours, because the venue limits or blocks our requests",
  provider: "the third party's node by which the venue is read failed",
  clock: "the clock was wrong by seconds",
  stale: "a kept connection was closed just as it was used again",
  starting: "the socket was not open yet",
  subscribing: "the stream was not subscribed for the whole slot",
  broken: "a bug of the probe",
} satisfies Record<UnmeasuredReason, string>;

type Probe = RegionSummary["probes"][number];

/** The probes of a region, and what each did not measure. */
export function ProbeTable({ region: { name, probes }, now }: { region: RegionSummary; now: string }) {
  const caption = `Probes of ${isolated(name)}`;
  return (
    <TableFrame caption={caption}>
      <thead>
        <tr>
          {["Probe", "Version", "Started", "Last seen", "Venues", "Slots not measured", "Clock", "Vantage"].map(
            (head) => (
              <th key={head} scope="col" class={head === "Venues" ? "figure" : undefined}>
                {head}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {probes.map((probe) => (
          <Row key={probe.id} probe={probe} now={now} />
        ))}
      </tbody>
    </TableFrame>
  );
}

function Row({ probe, now }: { probe: Probe; now: string }) {
  return (
    <tr>
      <th scope="row">
        <code>{probe.id.slice(0, 8)}</code>
      </th>
      <td>{isolated(probe.version)}</td>
      <td>
        <Instant at={probe.startedAt} now={now} />
      </td>
      <td>
        <Instant at={probe.seenAt} now={now} />
      </td>
      <td class="figure">{probe.venues}</td>
      <td class="words">
        <Unmeasured probe={probe} />
      </td>
      <td class="words">{clockText(probe)}</td>
      <td>{vantageText(probe.vantage, regionsWords.placeUnknown)}</td>
    </tr>
  );
}

/** The most frequent reason first. */
function Unmeasured({ probe: { unmeasuredSlots, unmeasuredByReason: by } }: { probe: Probe }) {
  if (unmeasuredSlots === 0) return <>none</>;
  const reasons = unmeasuredReasons.filter((reason) => by[reason]).sort((a, b) => by[b]! - by[a]!);
  return (
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>
          {by[reason]}: {reasonMeanings[reason]}
        </li>
      ))}
    </ul>
  );
}
