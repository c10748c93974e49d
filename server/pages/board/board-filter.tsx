import { CategoryField } from "../parts/category-field.js";
import { SelectField } from "../parts/select-field.js";
import { stateWords } from "../words.js";
import { type Filter, filterStates } from "./filter.js";

const states = filterStates.map((name) => [name, name === "trouble" ? "Degraded or down" : stateWords[name]] as const);

/** A plain form, whose selection is the address: it can be linked and works without JavaScript. */
export function BoardFilter({ filter }: { filter: Filter }) {
  return (
    <form class="filter" action="/" method="get" role="search">
      <label>
        Search <input type="search" name="q" maxLength={100} value={filter.q ?? ""} />
      </label>
      <CategoryField selected={filter.category} />
      <SelectField label="State" name="state" choices={[["", "All states"], ...states]} selected={filter.state} />
      <SelectField
        label="Order"
        name="sort"
        choices={[
          ["category", "By category"],
          ["worst", "Worst first"],
        ]}
        selected={filter.sort}
      />
      <button type="submit">Apply</button>
    </form>
  );
}
