/** `/detection`: our incidents beside what the venues themselves said. */
import { ageText } from "../data-age.js";
import type { PageProps } from "../page.js";
import { WindowForm } from "../parts/window-form.js";
import { detectionWords, windowWords } from "../words.js";
import { type DetectionData, detectionSentences } from "./detection-sentences.js";
import { DetectionTable } from "./detection-table.js";

export function detectionPage({ data }: { data: DetectionData }): PageProps {
  const age = ageText(data);
  const { days, venues, generatedAt } = data;
  const json = `/v1/detection?days=${days}`;
  const { lead, counts, coverage } = detectionSentences(data);
  return {
    ...{ title: `${detectionWords.title} ${windowWords.during(days)}`, icon: "unknown", section: "detection" },
    ...{ json, generatedAt, age, refreshS: 60 },
    children: (
      <>
        <h1>{lead}</h1>
        <WindowForm path="/detection" days={days} />
        {counts.length > 0 && <p>{counts.join(" ")}</p>}
        <p>
          <strong>{detectionWords.untested}</strong>
        </p>
        {coverage.length > 0 && <p>{coverage.join(" ")}</p>}
        {venues.length > 0 && <DetectionTable data={data} />}
        <Terms />
        <p>
          <a href="/comparing">{detectionWords.more}</a>
        </p>
      </>
    ),
  };
}

function Terms() {
  return (
    <section aria-labelledby="terms">
      <h2 id="terms">{detectionWords.terms}</h2>
      <dl>
        {detectionWords.meanings.map(([term, meaning]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
