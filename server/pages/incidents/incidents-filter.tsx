import { watchedVenues } from "../../../shared/registry/chain-venues.js";
import type { Registry } from "../../../shared/registry/registry.js";
import { incidentsParameters, type IncidentsQuery } from "../../api/incidents.js";
import { CategoryField } from "../parts/category-field.js";
import { SelectField } from "../parts/select-field.js";

const historyStatuses = { all: "Open and closed", open: "Only open", closed: "Only closed" };

/** A plain form, whose selection is the address. It starts from the newest incident again. */
export function IncidentsFilter({ query, registry }: { query: IncidentsQuery; registry: Registry }) {
  const { days, limit, status } = incidentsParameters(registry);
  const venues = watchedVenues(registry).map(({ id, name }) => [id, name] as const);
  const statuses = (status.schema.enum as (keyof typeof historyStatuses)[]).map(
    (name) => [name === status.absent ? "" : name, historyStatuses[name]] as const,
  );
  return (
    <form class="filter" action="/incidents" method="get" role="search">
      <SelectField label="Venue" name="venue" choices={[["", "All venues"], ...venues]} selected={query.venue} />
      <CategoryField selected={query.category} />
      <SelectField label="Status" name="status" choices={statuses} selected={query.status} />
      <label>
        Days back{" "}
        <input type="number" name="days" min={days.schema.minimum} max={days.schema.maximum} value={query.days} />
      </label>
      {query.limit !== limit.absent && <input type="hidden" name="limit" value={query.limit} />}
      <button type="submit">Apply</button>
    </form>
  );
}
