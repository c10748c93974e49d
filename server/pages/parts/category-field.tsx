import { categories, type Category } from "../../../shared/registry/registry.js";
import { categoryWords } from "../words.js";
import { SelectField } from "./select-field.js";

/** Selects one category of venues, or any. */
export function CategoryField({ selected }: { selected: Category | null }) {
  const named = categories.map((name) => [name, categoryWords[name]] as const);
  return (
    <SelectField label="Category" name="category" choices={[["", "All categories"], ...named]} selected={selected} />
  );
}
