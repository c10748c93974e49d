import { UserError } from "../../shared/process/user-error.js";

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The instant of an option that says how long ago it was: `30m`, `2h`, `7d`. */
export function since(option: string, value: string, now: Date): Date {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(value) ?? [];
  if (count === undefined)
    throw new UserError(`${option}: expected a time ago, like 30m, 2h or 7d, got ${JSON.stringify(value)}`);
  return new Date(+now - Number(count) * unitMs[unit as keyof typeof unitMs]);
}
