/** The programs of the service, in the order of their default health ports. */
export const services = ["core", "web", "probe"] as const;

export type Service = (typeof services)[number];
