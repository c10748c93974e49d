import { categories } from "../../../shared/registry/registry.js";
import { boardWords, categoryWords, stateWords } from "../words.js";
import { type Filter, filterStates } from "./filter.js";

/** A plain form, whose selection is the address: it can be linked and works without JavaScript. */
export function BoardFilter({ filter }: { filter: Filter }) {
  return (
    <form class="filter" action="/" method="get" role="search">
      <label>
        {boardWords.search} <input type="search" name="q" maxLength={100} value={filter.q ?? ""} />
      </label>
      <label>
        {boardWords.category}{" "}
        <select name="category">
          <option value="">{boardWords.anyCategory}</option>
          {categories.map((name) => (
            <option key={name} value={name} selected={name === filter.category}>
              {categoryWords[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {boardWords.state}{" "}
        <select name="state">
          <option value="">{boardWords.anyState}</option>
          {filterStates.map((name) => (
            <option key={name} value={name} selected={name === filter.state}>
              {name === "trouble" ? boardWords.anyTrouble : stateWords[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        {boardWords.sort}{" "}
        <select name="sort">
          <option value="category">{boardWords.byCategory}</option>
          <option value="worst" selected={filter.sort === "worst"}>
            {boardWords.worstFirst}
          </option>
        </select>
      </label>
      <button type="submit">{boardWords.apply}</button>
    </form>
  );
}
