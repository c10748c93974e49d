export interface SelectFieldProps {
  label: string;
  /** The parameter of the address. */
  name: string;
  /** Value and text of each choice, the first without a selection. */
  choices: readonly (readonly [value: string, text: string])[];
  selected: string | null;
}

/** A drop-down list of a form, with its label. */
export function SelectField({ label, name, choices, selected }: SelectFieldProps) {
  return (
    <label>
      {label}{" "}
      <select name={name}>
        {choices.map(([value, text]) => (
          <option key={value} value={value} selected={value === selected}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
