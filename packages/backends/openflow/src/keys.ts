/** Keys of resources that others need first, and numbers that are ours. Pure, for kinds and for models. */

/** Of a bridge among the rows of Open vSwitch's database; its flows come after it. */
export const bridgeKey = (bridge: string): string => `Open_vSwitch/Bridge/${bridge}`;

export const groupKey = (bridge: string, id: number): string => `flow-group ${bridge}/${id}`;

export const meterKey = (bridge: string, id: number): string => `flow-meter ${bridge}/${id}`;

/** Meters have no place for a mark: those with these numbers are ours. Open vSwitch takes numbers up to 65,536 at least. */
export const FIRST_METER = 0x7000;
export const LAST_METER = 0x7fff;
