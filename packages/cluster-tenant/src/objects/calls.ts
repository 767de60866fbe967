/** Bodies of the calls under `/plugin/`, by the original's names. */
import { z } from 'zod';
import { ipv4, ipv6, name, textOf } from './text.js';

const text = (longest: number): z.ZodType<string> =>
  textOf({
    longest,
    shape: /^[!-~]*$/,
    words: `must be at most ${longest} printable characters without spaces`,
  });

/** Part of a key in the store. */
const container = textOf({
  longest: 256,
  shape: /^[A-Za-z0-9][A-Za-z0-9_.:-]*$/,
  words: 'must be letters, digits, and . _ : - behind the first, at most 256',
});

export const createEndpointSchema = z.strictObject({
  TenantName: name,
  NetworkName: name,
  ServiceName: name.optional(),
  EndpointID: container.optional(),
  EPCommonName: text(256).optional(),
  ConfigEP: z.strictObject({
    Container: container.optional(),
    Host: text(253).optional(),
    IPAddress: ipv4.optional(),
    IPv6Address: ipv6.optional(),
    ServiceName: name.optional(),
  }),
});

export const deleteEndpointSchema = z.strictObject({
  TenantName: name,
  NetworkName: name,
  ServiceName: name.optional(),
  EndpointID: container,
  /** The endpoint's own address is released, whatever stands here. */
  IPv4Address: text(64).optional(),
});

/** A label of a container: its values are free text. */
const labels = z
  .record(z.string().max(253), z.string().max(4096))
  .refine((map) => Object.keys(map).length <= 256, { error: 'must have at most 256 entries' });

export const updateEndpointSchema = z.strictObject({
  IPAddress: text(64).optional(),
  ContainerID: text(256).optional(),
  Labels: labels.optional(),
  Tenant: name,
  /** Name of a network or of a group. */
  Network: name,
  Event: z.enum(['start', 'die']),
  EndpointID: container,
  EPCommonName: text(256).optional(),
});

/** `NETWORK.TENANT`, or `NETWORK:GROUP.TENANT`. */
const networkId = textOf({
  longest: 256,
  shape: /^[A-Za-z0-9][A-Za-z0-9.-]*(?::[A-Za-z0-9][A-Za-z0-9.-]*)?$/,
  words: 'must be NETWORK.TENANT or NETWORK:GROUP.TENANT',
});

export const allocAddressSchema = z
  .strictObject({
    NetworkID: networkId.optional(),
    /** `10.1.1.0/24`, or with a tenant, `10.1.1.0/24:blue`. */
    AddressPool: textOf({
      longest: 128,
      shape: /^[0-9.]+\/\d{1,2}(?::[A-Za-z0-9.-]+)?$/,
      words: 'must be an IPv4 subnet, 10.1.1.0/24, or one of a tenant, 10.1.1.0/24:blue',
    }).optional(),
    PreferredIPv4Address: ipv4.optional(),
  })
  .refine(({ NetworkID, AddressPool }) => NetworkID !== undefined || AddressPool !== undefined, {
    path: ['NetworkID'],
    error: 'must be given, or AddressPool',
  });

export const releaseAddressSchema = z.strictObject({ NetworkID: networkId, IPv4Address: ipv4 });

type Body<S extends z.ZodType> = Readonly<z.infer<S>>;

export type CreateEndpoint = Body<typeof createEndpointSchema>;
export type DeleteEndpoint = Body<typeof deleteEndpointSchema>;
export type UpdateEndpoint = Body<typeof updateEndpointSchema>;
export type AllocAddress = Body<typeof allocAddressSchema>;
export type ReleaseAddress = Body<typeof releaseAddressSchema>;
