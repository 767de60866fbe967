/** PODWIRE_PROPERTY_RUNS multiplies how often each property is tried: `10` for a long night. */
const factor = Number(process.env['PODWIRE_PROPERTY_RUNS'] ?? 1);

export const runs = (usual: number): number => Math.max(1, Math.round(usual * factor));
