/** How far an address or route reaches (rtm_scope, ifa_scope); a number for scopes without a name. */
export type Scope = 'global' | 'site' | 'link' | 'host' | 'nowhere' | number;

const scopes = { global: 0, site: 200, link: 253, host: 254, nowhere: 255 } as const;
const names = new Map(Object.entries(scopes).map(([name, number]) => [number as number, name as Scope]));

export const scopeNumber = (scope: Scope): number => (typeof scope === 'number' ? scope : scopes[scope]);

export const scopeName = (number: number): Scope => names.get(number) ?? number;
