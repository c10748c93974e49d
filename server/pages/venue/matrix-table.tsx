import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { StateWord } from "../parts/sign.js";
import { seenState } from "../parts/state-rank.js";
import { faultMeanings, matrixWords } from "../words.js";
import type { MatrixCell, MatrixRow, VenueMatrix } from "./matrix.js";

const notCountedBecause = {
  engine: "not decided: our engine is silent",
  impaired: "not counted: region impaired",
  outlier: "not counted: it has seen this bad for long while no quorum did",
  refused: "not counted: the venue refuses this place, which is no outage unless a second place confirms it",
  never: "not counted: it sends nothing",
};

/** With more components than this, those without any trouble are folded away. */
const fewComponents = 15;

/** Components by regions, with a word in each cell. */
export function MatrixSection({ matrix }: { matrix: VenueMatrix }) {
  const { components } = matrix;
  const isLong = components.length > fewComponents;
  const shown = isLong ? components.filter((row) => !isPlain(row)) : components;
  const folded = isLong ? components.filter(isPlain) : [];
  return (
    <section aria-labelledby="matrix">
      <h2 id="matrix">What each region sees now</h2>
      {components.length === 0 && <p>No component of this venue is measured.</p>}
      {shown.length > 0 && <MatrixTable matrix={matrix} rows={shown} caption="Components by region" />}
      {folded.length > 0 && (
        <details>
          <summary>
            {shown.length === 0
              ? `All ${folded.length} components are healthy in every region`
              : `${folded.length} more ${folded.length === 1 ? "component is" : "components are"} healthy in every region`}
          </summary>
          <MatrixTable matrix={matrix} rows={folded} caption="Components that are healthy in every region" />
        </details>
      )}
      <p class="minor">
        Regions vote. A component is degraded or down once a quorum of those that count agrees. A region is impaired
        while most venues fail there at once and nowhere else. <a href="/rulebook">How a verdict is reached</a>
      </p>
    </section>
  );
}

function isPlain({ state, cells }: MatrixRow): boolean {
  return state === "operational" && cells.every((cell) => cell.state === "operational" && cell.notCounted === null);
}

function MatrixTable({ matrix, rows, caption }: { matrix: VenueMatrix; rows: MatrixRow[]; caption: string }) {
  return (
    <TableFrame caption={caption}>
      <thead>
        <tr>
          <th scope="col">Component</th>
          <th scope="col">All regions together</th>
          {matrix.regions.map(({ id, name }) => (
            <th key={id} scope="col">
              {isolated(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ component, kind, label, state, fault, unknownBecause, cells }) => (
          <tr key={component}>
            <th scope="row">
              {isolated(label)} <span class="minor">{matrixWords.kinds[kind]}</span>
            </th>
            <td>
              <StateWord state={state} fault={fault} />
              {unknownBecause !== null && <div class="minor">{isolated(unknownBecause.detail)}</div>}
            </td>
            {cells.map((cell) => (
              <td key={cell.region}>
                <StateWord state={seenState(cell.state, unknownBecause)} fault={cell.newestFault} />
                {notesOf(cell, matrix.generatedAt).map((note) => (
                  <div key={note} class="minor">
                    {note}
                  </div>
                ))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </TableFrame>
  );
}

/** What was measured, the newest fault, and why the region is not counted. */
function notesOf({ state, samples, bad, slow, newestAt, newestFault, notCounted }: MatrixCell, now: string): string[] {
  const measured: string[] = [];
  if (samples !== null && bad! > 0) measured.push(`${bad!} of ${samples} failed`);
  if (samples !== null && slow! > 0) measured.push(`${slow!} of ${samples} slow`);
  if (samples !== null && newestFault !== null) measured.push(`newest: ${faultMeanings[newestFault]}`);
  const notes = measured.length > 0 ? [measured.join(", ")] : [];
  if (state === "unknown" && notCounted === null) notes.push("too few samples to say");
  if (notCounted === "late")
    notes.push(`not counted: its newest sample is ${durationText(sinceMs(newestAt!, now))} old`);
  else if (notCounted !== null) notes.push(notCountedBecause[notCounted]);
  return notes;
}
