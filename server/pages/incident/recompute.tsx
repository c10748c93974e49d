import { evidenceStatement, samplesStatement } from "./checking-statements.js";
import type { IncidentDetail } from "./incident-detail.js";

/** How to check it oneself: statements for this incident, and the addresses of its data and of the rules. */
export function Recompute({ detail: { incident, evidence } }: { detail: IncidentDetail }) {
  const { slug, venue } = incident;
  const decisions = [
    "opening",
    ...(evidence.escalation ? ["escalation"] : []),
    ...(evidence.closing && "votes" in evidence.closing ? ["closing"] : []),
  ];
  const links = [
    [`/v1/incidents/${slug}`, "This incident as JSON"],
    [`/v1/incidents.csv?venue=${venue}`, "The venue's incidents as CSV"],
    [`/v1/incidents.xlsx?venue=${venue}`, "The same as a workbook (XLSX)"],
    ["/v1/thresholds", "All limits and their reasons"],
    ["/checking", "How to check an incident step by step"],
    ["/rulebook", "How a verdict is reached"],
    ["/methodology", "How we measure"],
    ["/comparing", "How we compare ourselves with the venues' notices"],
  ] as const;
  return (
    <>
      <p>
        Anybody with access to the database as an analyst can recompute the votes from the raw samples. This compares
        them with those above:
      </p>
      <Statement label="Statement that recomputes the votes" text={evidenceStatement(slug, decisions)} />
      <p>These are the samples of the five minutes before the opening:</p>
      <Statement label="Statement that lists the samples" text={samplesStatement(slug)} />
      <p class="minor">Raw samples are kept for eight days. After that, the votes above are the only record.</p>
      <ul>
        {links.map(([path, text]) => (
          <li key={path}>
            <a href={path}>{text}</a> <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function Statement({ label, text }: { label: string; text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
  );
}
