/** `/detection`: our incidents beside what the venues themselves said. */
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { WindowForm } from "../parts/window-form.js";
import { windowWords } from "../words.js";
import { type DetectionData, detectionSentences } from "./detection-sentences.js";
import { DetectionTable } from "./detection-table.js";

const detectionMeanings = [
  [
    "Both: a pair",
    "One incident and one notice of a venue that began within six hours of each other, and each is the nearest to the other.",
  ],
  [
    "Ours near a notice",
    "An incident with a notice within six hours, but the notice is nearer to another incident. One outage often makes several incidents and one notice.",
  ],
  ["Only ours", "An incident without any notice of the venue within six hours."],
  ["Notices near ours", "A notice with an incident within six hours, but the incident is nearer to another notice."],
  ["Only the venue's", "A notice without any incident of ours within six hours."],
  [
    "Who was first",
    "The time from our announcement of the incident to the publication of the notice, as the median of the pairs. When each says that it began plays no part, because that is written in hindsight.",
  ],
] as [term: string, meaning: string][];

export function detectionPage({ data }: { data: DetectionData }): PageProps {
  const age = ageText(data);
  const { days, venues, generatedAt } = data;
  const json = `/v1/detection?days=${days}`;
  const { lead, counts, coverage } = detectionSentences(data);
  return {
    ...{
      title: `Our incidents and the venues' own notices ${windowWords.during(days)}`,
      icon: "unknown",
      section: "detection",
    },
    ...{ json, generatedAt, age, refreshS: 60 },
    children: (
      <>
        <h1>{lead}</h1>
        <WindowForm path="/detection" days={days} />
        {counts.length > 0 && <p>{counts.join(" ")}</p>}
        <p>
          <strong>
            Nothing tests that a notice and an incident are about the same fault. They are compared by the times at
            which they began, and some pairs arise by chance.
          </strong>
        </p>
        {coverage.length > 0 && <p>{coverage.join(" ")}</p>}
        {venues.length > 0 && <DetectionTable data={data} />}
        <Terms />
        <p>
          <a href="/comparing">How this is compared, with SQL that recomputes every number</a>
        </p>
      </>
    ),
  };
}

function Terms() {
  return (
    <section aria-labelledby="terms">
      <h2 id="terms">What the columns mean</h2>
      <dl>
        {detectionMeanings.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
