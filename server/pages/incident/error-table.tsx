import { TableFrame } from "../parts/table-frame.js";
import { TableHead } from "../parts/table-head.js";
import { faultMeanings, incidentPageWords } from "../words.js";
import type { IncidentDetail, RegionNames } from "./incident-detail.js";
import { regionName } from "./region-name.js";

type Errors = IncidentDetail["errors"];

/** Failed samples during the incident: a row a region, a column a fault. */
export function ErrorTable({ errors, regionNames }: { errors: Errors; regionNames: RegionNames }) {
  const { samples, bad, faults, regions } = errors;
  if (samples === null || bad === null) return <p>{incidentPageWords.faultsForgotten}</p>;
  const all = Object.fromEntries(faults.map(({ fault, count }) => [fault, count]));
  const rows = [
    ...regions.map(({ region, ...row }) => ({ ...row, name: regionName(regionNames, region) })),
    { name: "All regions", samples, bad, faults: all },
  ];
  return (
    <TableFrame caption="Samples in the minutes of the incident, by region and fault">
      <TableHead
        columns={[
          ["Region", false],
          ["Samples", true],
          ["Failed", true],
          ...faults.map(({ fault }) => [`${faultMeanings[fault]} (${fault})`, true] as const),
        ]}
      />
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>
            {row.samples === 0 ? (
              <td colSpan={2 + faults.length}>not measured</td>
            ) : (
              <>
                <td class="figure">{row.samples}</td>
                <td class="figure">{row.bad}</td>
                {faults.map(({ fault }) => (
                  <td key={fault} class="figure">
                    {row.faults[fault] ?? 0}
                  </td>
                ))}
              </>
            )}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}
