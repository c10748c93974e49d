import { type ClientSettings, readClientSettings } from "../../shared/config/settings.js";
import { makeService, type RemoteServiceOptions } from "../remote/service.js";

/** The option of commands that ask a running venuewatch. */
export const url = {
  type: "string",
  help: "where venuewatch runs (default: the setting BASE_URL, http://localhost:8080 unless set)",
} as const;

/** @throws UserError if the address, or a setting that is read, is wrong */
export function serviceAt(
  given: string | boolean | undefined,
  options: RemoteServiceOptions,
): { service: ReturnType<typeof makeService>; settings: ClientSettings } {
  const settings = readClientSettings();
  const service = makeService(typeof given === "string" ? given : settings.baseUrl, options);
  return { service, settings };
}
