/** The node's forwarding before Podwire made a router of it: see docs/decisions/0024-a-router-for-pods-only.md. */
import type { Family } from '@podwire/addresses';
import type { RouterBefore } from '@podwire/network-contract';
import { z } from 'zod';
import { readJson, type StateFiles } from '../cluster/state-files.js';
import { acceptRaKey, forwardingKeys, type RouterView } from './router-view.js';

export interface RouterHistory {
  /**
   * Looks at the node. What it did is written down for each family, once in a boot, before the caller switches it on.
   * @throws PodwireError RECORD_IO; then nothing may be switched on
   */
  look(families: readonly Family[]): RouterBefore;
}

/** In the state directory. */
export const routerFile = 'router.json';

const before = z.object({
  bridges: z.array(z.string()),
  parameters: z.record(z.string().regex(/^net(\/[\w.@:-]+)+$/), z.string().regex(/^-?\d+$/)),
});

const shape = z.object({
  version: z.literal(1),
  boot: z.string(),
  families: z.object({ 4: before.optional(), 6: before.optional() }),
});

type Before = z.output<typeof before>;
/** By family, of those that Podwire has switched on. */
export type RememberedRouter = z.output<typeof shape>['families'];

/** Memory of this boot; nothing of an earlier one, whose parameters are gone. */
export function recallRouter(files: StateFiles, boot: string): RememberedRouter {
  const read = shape.safeParse(readJson(files, routerFile));
  return read.success && read.data.boot === boot ? read.data.families : {};
}

export function openRouterHistory(read: () => RouterView, files: StateFiles, boot: string): RouterHistory {
  let remembered = recallRouter(files, boot);
  return {
    look(families) {
      const view = read();
      const fresh = families.filter((family) => remembered[family] === undefined);
      if (fresh.length > 0) {
        const added = Object.fromEntries(fresh.map((family) => [family, describe(view, family)]));
        const all = { ...remembered, ...added };
        files.write(routerFile, `${JSON.stringify({ version: 1, boot, families: all })}\n`);
        remembered = all;
      }
      return deriveRouterBefore(remembered, view);
    },
  };
}

function describe({ bridges, parameters }: RouterView, family: Family): Before {
  const keys = Object.keys(parameters).filter((key) =>
    key.startsWith(family === 4 ? 'net/ipv4/' : 'net/ipv6/'),
  );
  return {
    bridges: [...bridges],
    parameters: Object.fromEntries(keys.map((key) => [key, parameters[key]!])),
  };
}

function deriveRouterBefore(remembered: RememberedRouter, view: RouterView): RouterBefore {
  const forwarded = ([4, 6] as const).flatMap((family) => {
    const known = remembered[family];
    return known === undefined ? [] : [[family, forwardedThen(known, family)] as const];
  });
  return {
    forwarded: Object.fromEntries(forwarded),
    bridges: { 4: remembered[4]?.bridges ?? [], 6: remembered[6]?.bridges ?? [] },
    advertised: advertisedLinks(view),
  };
}

export const forwardedThen = ({ parameters }: Before, family: Family): boolean =>
  Number(parameters[forwardingKeys[family][0]!] ?? 0) !== 0;

/** Those that were set to 2 already are named too, so that the plan stays the same. */
function advertisedLinks({ parameters }: RouterView): string[] {
  return Object.entries(parameters).flatMap(([key, value]) => {
    const [, link = ''] = /^net\/ipv6\/conf\/([^/]+)\/accept_ra$/.exec(key) ?? [];
    return link !== '' && acceptRaKey(link) === key && (value === '1' || value === '2') ? [link] : [];
  });
}
