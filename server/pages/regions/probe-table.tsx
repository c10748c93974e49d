import { unmeasuredReasons } from "../../../shared/measurement/unmeasured.js";
import { Instant } from "../parts/instant.js";
import type { RegionSummary } from "../parts/region-health.js";
import { isolated } from "../parts/isolated.js";
import { regionsWords } from "../words.js";
import { clockText } from "./clock-text.js";
import { vantageText } from "../parts/vantage-text.js";
import { TableFrame } from "../parts/table-frame.js";

type Probe = RegionSummary["probes"][number];

/** The probes of a region, and what each did not measure. */
export function ProbeTable({ region: { name, probes }, now }: { region: RegionSummary; now: string }) {
  const { probe, version, started, seen, venues, slotsUnmeasured, clock, vantage } = regionsWords;
  const caption = regionsWords.probes(isolated(name));
  return (
    <TableFrame caption={caption}>
      <thead>
        <tr>
          {[probe, version, started, seen, venues, slotsUnmeasured, clock, vantage].map((head) => (
            <th key={head} scope="col" class={head === venues ? "figure" : undefined}>
              {head}
            </th>
          ))}
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
  if (unmeasuredSlots === 0) return <>{regionsWords.none}</>;
  const reasons = unmeasuredReasons.filter((reason) => by[reason]).sort((a, b) => by[b]! - by[a]!);
  return (
    <ul>
      {reasons.map((reason) => (
        <li key={reason}>
          {by[reason]}: {regionsWords.reasons[reason]}
        </li>
      ))}
    </ul>
  );
}
