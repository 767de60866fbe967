/** BGP with routers, through a BIRD 2 daemon (docs/bgp.md). */
import { z } from 'zod';
import { isAddressText } from './address-text.js';
import { absolutePath, socketPath } from './fields.js';

const asn = z.int().min(1).max(4_294_967_295);

const router = z.strictObject({
  address: z
    .string()
    .refine(isAddressText, 'must be an address')
    .meta({ description: 'Address of the router.', example: '192.0.2.1' }),
  asn: asn.meta({ description: 'Autonomous system of the router.', example: 64_500 }),
  multihop: z
    .boolean()
    .default(false)
    .meta({ description: 'For routers that are on no segment of the node.' }),
  passwordFile: absolutePath
    .optional()
    .meta({ description: 'A file with nothing but the password of the session (TCP MD5).' }),
});

export const bgp = z.strictObject({
  asn: asn.meta({ description: 'Autonomous system of this node.', example: 64_512 }),
  routerId: z
    .string()
    .refine((text) => isAddressText(text) && !text.includes(':'), 'must be an IPv4 address')
    .optional()
    .meta({
      description: 'Unique among the speakers.',
      defaultText: "the node's IPv4 address",
      example: '192.0.2.10',
    }),
  routers: z.array(router).min(1).max(64).meta({ description: 'Whom the node speaks to.' }),
  start: z.boolean().default(true).meta({
    description:
      'Whether the agent runs the daemon. `false` where the system does; it must then use `configFile`.',
  }),
  program: absolutePath
    .default('/usr/sbin/bird')
    .meta({ description: 'The daemon, where the agent runs it.' }),
  configFile: absolutePath.optional().meta({
    description: "The daemon's configuration, written by the agent.",
    defaultText: '`bird.conf` in `stateDir`',
  }),
  socket: socketPath.optional().meta({
    description: "The daemon's control socket.",
    defaultText: '`bird.ctl` in `stateDir`',
  }),
});

export type BgpConfig = z.output<typeof bgp>;
