import { incidentsParameters, type IncidentsQuery } from "../../api/incidents.js";
import type { Registry } from "../../../shared/registry/registry.js";

/** The query of an address which selects this: empty, or beginning with `?`. Default values are left out. */
export function queryText(query: IncidentsQuery, registry: Registry): string {
  const usual = incidentsParameters(registry);
  const chosen = Object.entries(query).filter(
    ([name, value]) => value !== null && value !== usual[name as keyof IncidentsQuery].absent,
  );
  const text = new URLSearchParams(chosen.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
