import { isolated } from "../parts/isolated.js";
import { durationText, sinceMs } from "../format.js";
import { TableFrame } from "../parts/table-frame.js";
import { StateWord } from "../parts/sign.js";
import { seenState } from "../parts/state-rank.js";
import { faultMeanings, matrixWords } from "../words.js";
import type { MatrixCell, MatrixRow, VenueMatrix } from "./matrix.js";

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
      <h2 id="matrix">{matrixWords.heading}</h2>
      {components.length === 0 && <p>{matrixWords.noComponents}</p>}
      {shown.length > 0 && <MatrixTable matrix={matrix} rows={shown} caption={matrixWords.caption} />}
      {folded.length > 0 && (
        <details>
          <summary>{matrixWords.folded(folded.length, shown.length === 0)}</summary>
          <MatrixTable matrix={matrix} rows={folded} caption={matrixWords.foldedCaption} />
        </details>
      )}
      <p class="minor">
        {matrixWords.explained} <a href="/rulebook">{matrixWords.rules}</a>
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
          <th scope="col">{matrixWords.component}</th>
          <th scope="col">{matrixWords.together}</th>
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
  if (samples !== null && bad! > 0) measured.push(matrixWords.failed(bad!, samples));
  if (samples !== null && slow! > 0) measured.push(matrixWords.slow(slow!, samples));
  if (samples !== null && newestFault !== null) measured.push(matrixWords.newest(faultMeanings[newestFault]));
  const notes = measured.length > 0 ? [measured.join(", ")] : [];
  if (state === "unknown" && notCounted === null) notes.push(matrixWords.tooFew);
  if (notCounted === "late") notes.push(matrixWords.late(durationText(sinceMs(newestAt!, now))));
  else if (notCounted !== null) notes.push(matrixWords.notCounted[notCounted]);
  return notes;
}
