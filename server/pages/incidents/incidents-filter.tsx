import { incidentsParameters, type IncidentsQuery } from "../../api/incidents.js";
import { categories, type Registry } from "../../../shared/registry/registry.js";
import { categoryWords, historyWords } from "../words.js";

/** A plain form, whose selection is the address. It starts from the newest incident again. */
export function IncidentsFilter({ query, registry }: { query: IncidentsQuery; registry: Registry }) {
  const { days, limit, status } = incidentsParameters(registry);
  return (
    <form class="filter" action="/incidents" method="get" role="search">
      <label>
        {historyWords.venue}{" "}
        <select name="venue">
          <option value="">{historyWords.anyVenue}</option>
          {registry.venues.map(({ id, name }) => (
            <option key={id} value={id} selected={id === query.venue}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {historyWords.category}{" "}
        <select name="category">
          <option value="">{historyWords.anyCategory}</option>
          {categories.map((name) => (
            <option key={name} value={name} selected={name === query.category}>
              {categoryWords[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {historyWords.status}{" "}
        <select name="status">
          {(status.schema.enum as (keyof typeof historyWords.statuses)[]).map((name) => (
            <option key={name} value={name === status.absent ? "" : name} selected={name === query.status}>
              {historyWords.statuses[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {historyWords.days}{" "}
        <input type="number" name="days" min={days.schema.minimum} max={days.schema.maximum} value={query.days} />
      </label>
      {query.limit !== limit.absent && <input type="hidden" name="limit" value={query.limit} />}
      <button type="submit">{historyWords.apply}</button>
    </form>
  );
}
