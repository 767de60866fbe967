/** The one table of a node, for all its networks. */
export const trafficTable = { family: 'inet', name: 'podwire' } as const;
