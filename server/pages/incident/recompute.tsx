import { checkingWords } from "../words.js";
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
    [`/v1/incidents/${slug}`, checkingWords.json],
    [`/v1/incidents.csv?venue=${venue}`, checkingWords.csv],
    [`/v1/incidents.xlsx?venue=${venue}`, checkingWords.xlsx],
    ["/v1/thresholds", checkingWords.thresholds],
    ["/checking", checkingWords.checking],
    ["/rulebook", checkingWords.rulebook],
    ["/methodology", checkingWords.methodology],
    ["/comparing", checkingWords.comparing],
  ] as const;
  return (
    <>
      <p>{checkingWords.evidence}</p>
      <Statement label={checkingWords.evidenceLabel} text={evidenceStatement(slug, decisions)} />
      <p>{checkingWords.samples}</p>
      <Statement label={checkingWords.samplesLabel} text={samplesStatement(slug)} />
      <p class="minor">{checkingWords.kept}</p>
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
