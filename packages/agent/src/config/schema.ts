/**
 * The agent's configuration. This is the only place that knows its keys: checking, defaults and
 * docs/configuration.md all come from here.
 */
import os from 'node:os';
import { type FailsafePort, usualFailsafes } from '@podwire/network-policy';
import { z } from 'zod';
import { cluster } from './cluster.js';
import { networkModels } from '../models.js';
import { absolutePath, duration, loopbackListener, name, socketPath, socketPathIn } from './fields.js';
import { type Models, networkSchema } from './network.js';
import { poolProblems } from './pool.js';

const defaultPools = [{ cidr: '10.244.0.0/16' }, { cidr: 'fd00:244::/48' }];

function networksSchema(models: Models) {
  return z
    .array(networkSchema(models))
    .min(1)
    .superRefine((list, context) => {
      for (const { path, message } of [
        ...nameProblems(list),
        ...poolProblems(list.map(({ pools = [] }) => ({ pools }))),
      ]) {
        context.addIssue({ code: 'custom', path, message });
      }
    });
}

function nameProblems(list: readonly { name: string }[]): { path: (string | number)[]; message: string }[] {
  return list.flatMap(({ name: own }, index) =>
    list.slice(0, index).some((other) => other.name === own)
      ? [{ path: [index, 'name'], message: `a second network named ${own}` }]
      : [],
  );
}

const metrics = z.strictObject({
  listen: loopbackListener.optional().meta({
    description:
      'Loopback address and port that serves /metrics, /healthz and /readyz. They are on the API socket in any case; no TCP port is opened by default.',
    example: '127.0.0.1:9464',
  }),
});

const log = z.strictObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).default('info').meta({
    description: 'The lowest level that is logged. One line for each request is logged at `info`.',
  }),
});

const deadlines = z.strictObject({
  request: duration('100ms', '10m')
    .prefault('10s')
    .meta({ description: 'For one CNI request, waiting for its turn included.' }),
  receive: duration('10ms', '1m')
    .prefault('2s')
    .meta({ description: 'For the plugin to send its request, and to take the answer.' }),
  reconcile: duration('1s', '30m')
    .prefault('1m')
    .meta({ description: 'For one reconcile of the whole node.' }),
  stop: duration('0s', '10m')
    .prefault('10s')
    .meta({ description: 'For running requests to finish when the agent is asked to stop.' }),
});

const limits = z.strictObject({
  connections: z.int().min(1).max(65_535).default(1_024).meta({
    description: 'Connections on the CNI socket at once; more are turned away with "try again later".',
  }),
  traces: z.int().min(0).max(100_000).default(200).meta({
    description: 'How many of the latest requests are kept with their stages, for `podwire trace`.',
  }),
});

const fieldsFor = (models: Models) =>
  z.strictObject({
    nodeName: name
      .default(() => os.hostname())
      .meta({ description: 'Name of this node.', defaultText: 'the host name', example: 'node1' }),
    socket: socketPath
      .prefault('/run/podwire/cni.sock')
      .meta({ description: 'Where plugins connect; the plugin configuration must name the same path.' }),
    apiSocket: socketPath
      .prefault('/run/podwire/api.sock')
      .meta({ description: 'HTTP for `podwire status`, `pods`, `explain` and other programs.' }),
    stateDir: absolutePath.prefault('/run/podwire').meta({
      description:
        'Endpoint records, in `endpoints/`. Must be emptied by a reboot, as /run is: the network of a pod does not survive it either.',
    }),
    networks: networksSchema(models).optional().meta({
      description: 'The networks that pods can have.',
      defaultText:
        'one network `default` with the pools 10.244.0.0/16 and fd00:244::/48 (with `cluster`: its own)',
    }),
    cluster: cluster.optional().meta({
      description: 'Makes this node one of a cluster, which shares pools and whose pods reach each other.',
    }),
    coolDown: duration('0s', '24h').prefault('1m').meta({
      description:
        'How long a released address rests before another pod may get it, so that caches of its former owner expire.',
    }),
    reconcileInterval: duration('1s', '24h').prefault('2m').meta({
      description: 'How often the node is compared with what it should be, and repaired.',
    }),
    watchDrift: z.boolean().default(true).meta({
      description:
        'Repair at once what others change, when the kernel tells of it. Without it drift waits for the next reconcile.',
    }),
    metrics: metrics.prefault({}).meta({ description: 'Prometheus metrics.' }),
    log: log.prefault({}).meta({ description: 'Logs: one JSON object a line on standard output.' }),
    openvswitch: openvswitch.prefault({}).meta({
      description: 'Open vSwitch of the node, where the model of a network needs it.',
    }),
    openshiftCni: openshiftCni.optional().meta({
      description:
        'Serves the CNI plugin `openshift-sdn` as the node of OpenShift SDN does; `{}` has its usual places.',
    }),
    kubeOvnCni: kubeOvnCni.optional().meta({
      description:
        'Serves the CNI plugin `kube-ovn` as the daemon of Kube-OVN does; `{}` has its usual places.',
    }),
    objects: objects.prefault({}).meta({ description: 'Where objects are kept that people apply.' }),
    policy: policy.prefault({}).meta({ description: 'Who may talk to whom.' }),
    deadlines: deadlines.prefault({}).meta({ description: 'How long things may take.' }),
    limits: limits.prefault({}).meta({ description: 'How much there may be of something.' }),
  });

const openvswitch = z.strictObject({
  runDir: absolutePath.prefault('/run/openvswitch').meta({
    description:
      'Where ovsdb-server and ovs-vswitchd have their sockets: `db.sock`, and one for each bridge.',
  }),
});

const openshiftCni = z.strictObject({
  directory: socketPathIn('/socket').prefault('/var/run/openshift-sdn/cniserver').meta({
    description:
      'Where the plugin asks: `socket`, and `config.json`, which is there while the node serves it.',
  }),
  networkConfigDir: absolutePath.prefault('/etc/cni/net.d').meta({
    description:
      'Where container runtimes look for networks. `80-openshift-network.conf` is written there once the node serves pods.',
  }),
  cniVersion: z.enum(['0.2.0', '0.3.1']).default('0.2.0').meta({
    description: 'The version in that file: releases of OpenShift have had one or the other.',
  }),
});

const kubeOvnCni = z.strictObject({
  socket: socketPath.prefault('/run/openvswitch/kube-ovn-daemon.sock').meta({
    description: 'Where the plugin asks; the network configuration names the same path.',
  }),
  networkConfigDir: absolutePath.prefault('/etc/cni/net.d').meta({
    description:
      'Where container runtimes look for networks. `01-kube-ovn.conflist` is written there once the node serves pods.',
  }),
});

const objects = z.strictObject({
  directory: absolutePath.prefault('/etc/podwire/objects').meta({
    description:
      'On a node that is alone: the directory of YAML files that `podwire apply` writes and the agent follows. With `cluster` objects are in the store.',
  }),
});

const failsafePort = z
  .string()
  .regex(/^(tcp|udp|sctp):[1-9]\d{0,4}$/, 'must be PROTOCOL:PORT, such as tcp:22')
  .refine((text) => Number(text.split(':')[1]) <= 65_535, 'must be PROTOCOL:PORT, such as tcp:22')
  .transform((text) => {
    const [protocol, port] = text.split(':') as ['tcp' | 'udp' | 'sctp', string];
    return { protocol, port: Number(port) };
  });

const failsafes = (usual: readonly FailsafePort[], description: string) =>
  z
    .array(failsafePort)
    .max(64)
    .prefault(usual.map(({ protocol, port }) => `${protocol}:${port}`))
    .meta({ description });

const policy = z.strictObject({
  enabled: z.boolean().default(true).meta({
    description:
      'Enforce policy. Without it there is no table of policy, and every connection of a pod is allowed.',
  }),
  cutEstablished: z.boolean().default(false).meta({
    description:
      'Cut connections that a change of policy does not allow any more, within a second. Without it only new connections are concerned.',
  }),
  labelWait: duration('0s', '1m').prefault('5s').meta({
    description:
      'How long an ADD waits for the labels of its pod where a policy looks at labels; then it fails, to be tried again later.',
  }),
  logGroup: z.int().min(0).max(65_535).default(4_789).meta({
    description: "The kernel's log group (nflog) that dropped packets are reported to.",
  }),
  failsafeInbound: failsafes(
    usualFailsafes.ingress,
    'Ports of the node that no policy of a host endpoint closes.',
  ),
  failsafeOutbound: failsafes(
    usualFailsafes.egress,
    'Ports elsewhere that the node always reaches, whatever policy of a host endpoint says. Those of the cluster’s store are always among them.',
  ),
});

type Problem = { readonly path: (string | number)[]; readonly message: string };

/** Also for a value that has other faults: all problems of a file are said at once. */
function placeOfPools(value: unknown, models: Models): Problem[] {
  const { cluster: shared, networks: list } = (value ?? {}) as { cluster?: unknown; networks?: unknown };
  return (Array.isArray(list) ? list : []).flatMap((each: unknown, index) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return [];
    const { model, pools: own } = each as { model?: unknown; pools?: unknown };
    const hasPools = own !== undefined;
    const chosen = models.find(({ name: known }) => known === model);
    if (shared === undefined && (chosen?.subnets ?? chosen?.assigned) !== undefined) {
      const given =
        chosen?.subnets === undefined
          ? 'controller gives pods their addresses'
          : 'objects give nodes their subnets';
      const message = `networks of model ${String(model)} need \`cluster\`, whose ${given}`;
      return [{ path: ['networks', index, 'model'], message }];
    }
    if (hasPools === (shared === undefined)) return [];
    const message = hasPools
      ? 'with `cluster` the pools of a network are in the store (`podwire pool`); they cannot stand here too'
      : 'missing; without `cluster` a network needs pools';
    return [{ path: ['networks', index, 'pools'], message }];
  });
}

/** Looks in any case; by itself zod calls a check only when nothing else is wrong. */
function poolsInOnePlace(models: Models) {
  const check = z.check<unknown>(({ value, issues }) => {
    for (const problem of placeOfPools(value, models))
      issues.push({ code: 'custom', input: value, ...problem });
  });
  check._zod.def.when = () => true;
  return check;
}

/** The schema of a configuration whose networks may be of these models; the first one is the default. */
export function createConfigSchema(models: Models) {
  return fieldsFor(models)
    .check(poolsInOnePlace(models))
    .transform(({ networks: list, ...value }) => {
      const ownPools = value.cluster === undefined ? { pools: defaultPools } : {};
      const chosen = list ?? [networkSchema(models).parse({ name: 'default', ...ownPools })];
      return { ...value, networks: chosen.map((each) => ({ ...each, pools: each.pools ?? [] })) };
    });
}

export const configSchema = createConfigSchema(networkModels);

/** The configuration with all defaults filled in. Durations are in milliseconds. */
export type AgentConfig = z.output<typeof configSchema>;
export type NetworkConfig = AgentConfig['networks'][number];
export type PoolConfig = NetworkConfig['pools'][number];
