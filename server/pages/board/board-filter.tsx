import { CategoryField } from "../parts/category-field.js";
import { SelectField } from "../parts/select-field.js";
import { boardWords, stateWords } from "../words.js";
import { type Filter, filterStates } from "./filter.js";

const states = filterStates.map(
  (name) => [name, name === "trouble" ? boardWords.anyTrouble : stateWords[name]] as const,
);

/** A plain form, whose selection is the address: it can be linked and works without JavaScript. */
export function BoardFilter({ filter }: { filter: Filter }) {
  return (
    <form class="filter" action="/" method="get" role="search">
      <label>
        {boardWords.search} <input type="search" name="q" maxLength={100} value={filter.q ?? ""} />
      </label>
      <CategoryField selected={filter.category} />
      <SelectField
        label={boardWords.state}
        name="state"
        choices={[["", boardWords.anyState], ...states]}
        selected={filter.state}
      />
      <SelectField
        label={boardWords.sort}
        name="sort"
        choices={[
          ["category", boardWords.byCategory],
          ["worst", boardWords.worstFirst],
        ]}
        selected={filter.sort}
      />
      <button type="submit">{boardWords.apply}</button>
    </form>
  );
}
