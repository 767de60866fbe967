/** Configuration of a cluster's member: where the store is, and which node this is. */
import { isAddressText, isInterfaceAddressText } from './address-text.js';
import { storeSpecSchema } from '@podwire/store';
import { z } from 'zod';
import { bgp } from './bgp.js';
import { absolutePath, duration } from './fields.js';

const tls = z.strictObject({
  ca: absolutePath
    .optional()
    .meta({ description: 'PEM file with the authorities that the server is checked against.' }),
  certificate: absolutePath.optional().meta({ description: "PEM file with the client's own certificate." }),
  key: absolutePath.optional().meta({ description: 'PEM file with the key of `certificate`.' }),
  serverName: z.string().min(1).max(253).optional().meta({
    description: "Name that the server's certificate must have, when it is not the endpoint's host.",
  }),
});

const endpoint = z
  .string()
  .max(1_024)
  .refine(isHttpUrl, 'must be a URL such as http://127.0.0.1:2379 or https://etcd.example:2379');

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  // Many can read a configuration; secrets have files of their own.
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

const storeObject = z.strictObject({
  kind: z.enum(['embedded', 'etcd', 'consul']).meta({
    description:
      '`embedded`: a directory that the programs of one machine share; `etcd` and `consul`: servers.',
  }),
  directory: absolutePath.optional().meta({
    description: 'For `embedded`: where the data is.',
    defaultText: '`/var/lib/podwire/store`',
  }),
  endpoints: z.array(endpoint).min(1).max(64).optional().meta({
    description: 'For `etcd` and `consul`: URLs of the servers, one or all of them.',
    example: '[http://127.0.0.1:2379]',
  }),
  tls: tls.optional().meta({ description: 'For `https://` endpoints.' }),
  username: z.string().min(1).max(255).optional().meta({ description: 'For `etcd` with authentication.' }),
  passwordFile: absolutePath.optional().meta({
    description: 'For `etcd`: a file with nothing but the password of `username`.',
  }),
  tokenFile: absolutePath.optional().meta({
    description: 'For `consul`: a file with nothing but the ACL token.',
  }),
});
type StoreObject = z.output<typeof storeObject>;

/** Which keys belong to which kind, besides `kind` itself; the store's own schema has the rest of the rules. */
const keysOf: Readonly<Record<StoreObject['kind'], readonly (keyof StoreObject)[]>> = {
  embedded: ['directory'],
  etcd: ['endpoints', 'tls', 'username', 'passwordFile'],
  consul: ['endpoints', 'tls', 'tokenFile'],
};

/** One object for all kinds, so that the reference has one table; what comes out is what a store is opened with. */
const store = storeObject
  .superRefine((value, context) => {
    const allowed = keysOf[value.kind];
    for (const key of Object.keys(value) as (keyof StoreObject)[]) {
      if (key === 'kind' || allowed.includes(key) || value[key] === undefined) continue;
      context.addIssue({
        code: 'custom',
        path: [key],
        message: `a store of kind ${value.kind} has no ${key}`,
      });
    }
    if (allowed.includes('endpoints') && value.endpoints === undefined) {
      context.addIssue({
        code: 'custom',
        path: ['endpoints'],
        message: `a store of kind ${value.kind} needs them`,
      });
    }
  })
  .transform(toSpec)
  .pipe(storeSpecSchema);

function toSpec({ kind, directory = '/var/lib/podwire/store', ...rest }: StoreObject): unknown {
  return kind === 'embedded' ? { kind, directory } : { kind, ...rest };
}

/** Kubernetes' rule: an optional DNS prefix and a name of at most 63 characters; values of at most 63. */
const labelKey = z
  .string()
  .max(317)
  .regex(
    /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
    'is no label name',
  );
const labelValue = z
  .string()
  .regex(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/, 'is no label value');

/** IFNAMSIZ is 16 with the zero; no slash and no space (dev_valid_name of the kernel). */
const linkName = /^[^\s/:]{1,15}$/;
const ownAddress = z
  .string()
  .refine(
    (text) => isAddressText(text) || isInterfaceAddressText(text) || linkName.test(text),
    'must be an address, an ADDRESS/LENGTH or the name of an interface',
  );

export const cluster = z.strictObject({
  store: store.meta({ description: 'Where the cluster keeps what its nodes share.' }),
  root: z
    .string()
    .max(200)
    .regex(/^(\/[A-Za-z0-9._-]+)+$/, 'must be a path such as /podwire')
    .default('/podwire')
    .meta({ description: 'What all keys in the store begin with; the same on all nodes of a cluster.' }),
  labels: z.record(labelKey, labelValue).default({}).meta({
    description: 'Labels of this node, for the node selectors of pools.',
    example: '{ zone: a }',
  }),
  address: z
    .union([ownAddress, z.array(ownAddress).min(1).max(2)])
    .optional()
    .meta({
      description:
        "Where other nodes reach this one: an address (or ADDRESS/LENGTH) of one of its interfaces, one of each family as a list, or an interface's name. The length says who shares the segment.",
      defaultText: 'the addresses of the uplink',
      typeText: 'string or list of strings',
      example: '192.0.2.10/24',
    }),
  lease: duration('1s', '1h').prefault('30s').meta({
    description: 'How long the node counts as alive after its last sign of life.',
  }),
  vanishAfter: duration('1s', '8760h').prefault('24h').meta({
    description:
      'After how long without a sign of life what this node has may be given to others. It tells the store, and hands out nothing any more itself after nine tenths of it.',
  }),
  reportInterval: duration('10ms', '1h').prefault('1s').meta({
    description: 'How often at most the store is told which addresses are in use.',
  }),
  bgp: bgp.optional().meta({
    description:
      'Tells routers where the blocks of this node are, through a BIRD 2 daemon ([bgp.md](bgp.md)).',
  }),
  controller: z.boolean().default(true).meta({
    description:
      'Whether this agent may lead the cluster: release what vanished nodes have left and clean up. One of the agents does at a time; `false` where `podwire controller` runs by itself.',
  }),
});

export type ClusterConfig = z.output<typeof cluster>;
