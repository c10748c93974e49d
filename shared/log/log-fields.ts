export type LogFields = Record<string, unknown>;
