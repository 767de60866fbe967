import type { Difference, Resource } from '@podwire/engine';
import * as is from '@podwire/engine/checks';
import { externalIds, pairs, text } from '../rows/checks.js';
import { idOf, keyFor } from '../rows/description.js';
import { defineRowKindsOf, type RowKind } from '../rows/kind.js';
import { type ReportKind, REPORTS } from '../rows/report-kind.js';
import type { SettingKind } from '../rows/setting-kind.js';
import { type AnyRow, pairsOf } from '../rows/view.js';
import { portInstalledKey, portReadyKey } from './keys.js';
import type {
  OvsBridge,
  OvsInterface,
  OvsMirror,
  OvsPort,
  OvsPortInstalled,
  OvsPortReady,
  OvsQos,
  OvsQueue,
} from './resources.js';
import type { SwitchResources } from './resources.js';
import { setting, settingEntry } from './settings.js';
import { bridgeRows, mirrorRows, portRows, qosRows, queueRows } from './rows.js';
import { INSTALLED, SWITCH, switchDatabase } from './tables.js';

const define = defineRowKindsOf({ database: switchDatabase, backend: SWITCH });

const vlan = is.numberUpTo(4_095);
const flag = is.optional(is.flag);
const count = is.optional(is.count);
const texts = is.optional(is.listOf(text));
const vlans = is.optional(is.listOf(vlan));
const common = { otherConfig: pairs, externalIds };

const interfaceFields = {
  ...{ name: text, type: is.optional(text), options: pairs, mac: is.optional(text) },
  ...{ mtuRequest: count, ofportRequest: count, ingressPolicingRate: count, ingressPolicingBurst: count },
  ...common,
} satisfies { [K in keyof OvsInterface]-?: is.Check };

const bridge = define<OvsBridge>({
  kind: 'ovs-bridge',
  check: is.resource<OvsBridge>({
    ...{ name: text, datapathType: is.optional(text), protocols: texts },
    failMode: is.optional(is.oneOf('standalone', 'secure')),
    ...{ stp: flag, rstp: flag, mcastSnooping: flag, ...common },
  }),
  describe: ({ name }) => `bridge ${name}`,
  rows: bridgeRows,
});

const port = define<OvsPort>({
  kind: 'ovs-port',
  check: is.resource<OvsPort>({
    ...{ name: text, bridge: text, interfaces: is.listOf(is.record(interfaceFields), 1) },
    ...{ tag: is.optional(vlan), trunks: vlans, qos: is.optional(text), mirrors: texts, ...common },
    vlanMode: is.optional(is.oneOf('trunk', 'access', 'native-tagged', 'native-untagged', 'dot1q-tunnel')),
    bondMode: is.optional(is.oneOf('balance-tcp', 'balance-slb', 'active-backup')),
    lacp: is.optional(is.oneOf('active', 'passive', 'off')),
  }),
  describe: ({ name, bridge: of }) => `port ${name} of ${of}`,
  rows: portRows,
  // ovs-vswitchd makes links of other types itself. In user space it goes on reading from a link that is gone.
  opens: ({ interfaces }) =>
    interfaces.filter(({ type = '' }) => type === '').map(({ name }) => linkKey(name)),
});

const isNumbered = (value: unknown): boolean =>
  Object.keys(value as object).every(
    (number) => /^(0|[1-9]\d{0,9})$/.test(number) && Number(number) < 2 ** 32,
  );

const qos = define<OvsQos>({
  kind: 'ovs-qos',
  check: is.resource<OvsQos>({
    ...{ name: text, type: text, ...common },
    queues: (value) =>
      pairs(value) ?? (value === undefined || isNumbered(value) ? undefined : 'no queues by their numbers'),
  }),
  describe: ({ name, type }) => `QoS ${name} (${type})`,
  rows: qosRows,
});

const queue = define<OvsQueue>({
  kind: 'ovs-queue',
  check: is.resource<OvsQueue>({ name: text, dscp: is.optional(is.numberUpTo(63)), ...common }),
  describe: ({ name }) => `queue ${name}`,
  rows: queueRows,
});

const mirror = define<OvsMirror>({
  kind: 'ovs-mirror',
  check: is.resource<OvsMirror>({
    ...{ name: text, bridge: text, selectAll: flag, externalIds },
    ...{ selectSrcPorts: texts, selectVlans: vlans },
    ...{ outputPort: is.optional(text), outputVlan: is.optional(vlan) },
  }),
  describe: ({ name, bridge: of }) => `mirror ${name} of ${of}`,
  rows: mirrorRows,
});

/** As the key of a link of the node. */
const linkKey = (name: string): string => `link host/${name}`;

const portReady: ReportKind<OvsPortReady> = {
  ...{ kind: 'ovs-port-ready', backend: SWITCH, batch: REPORTS },
  ...{ inPlace: true, removal: 'never' },
  place: () => switchDatabase.database,
  key: ({ port: name, isLink }) => (isLink === true ? linkKey(name) : portReadyKey(name)),
  describe: ({ port: name, number }) => `port ${name}${number === undefined ? '' : ` with number ${number}`}`,
  after: ({ port: name }) => [keyFor(switchDatabase.database, idOf('Port', name))],
  check: is.resource<OvsPortReady>({ port: text, number: is.optional(is.numberUpTo(0xfeff)), isLink: flag }),
  source: ({ port: name }) => ({ table: 'Interface', name }),
  compare: comparePort,
  // A port without its link has the number -1, until the link comes.
  isFinal: ({ ofport }) => ofport !== undefined && ofport !== -1,
  touches: ({ port: name }) => [keyFor(switchDatabase.database, idOf('Interface', name))],
};

/** Open vSwitch shows the number -1, and an error, for a port that it cannot make. */
function comparePort({ port: name, number }: OvsPortReady, row: AnyRow | undefined): Difference | undefined {
  const [ofport, error] = [row?.['ofport'], row?.['error']];
  if (typeof error === 'string') return `port ${name}: ${error}`;
  if (ofport === undefined) return { missing: `ovs-vswitchd has not made port ${name}` };
  return number === undefined || ofport === number
    ? undefined
    : `the number of port ${name} is ${ofport as number}, not ${number}`;
}

/** Milliseconds: with a thousand pods on a busy node ovn-controller takes seconds. */
const INSTALLED_IN = 30_000;

const portInstalled: ReportKind<OvsPortInstalled> = {
  ...{ kind: 'ovs-port-installed', backend: SWITCH, batch: REPORTS },
  ...{ inPlace: true, removal: 'never' },
  place: () => switchDatabase.database,
  key: ({ port: name }) => portInstalledKey(name),
  describe: ({ port: name }) => `flows of port ${name} by ovn-controller`,
  // A port of the type internal is ready where its link is.
  after: ({ port: name }) => [
    keyFor(switchDatabase.database, idOf('Port', name)),
    portReadyKey(name),
    linkKey(name),
  ],
  waits: ({ timeout = INSTALLED_IN }) => timeout,
  check: is.resource<OvsPortInstalled>({ port: text, timeout: count }),
  source: ({ port: name }) => ({ table: 'Interface', name }),
  compare: compareInstalled,
  isFinal: ({ error }) => typeof error === 'string',
  touches: ({ port: name }) => [keyFor(switchDatabase.database, idOf('Interface', name))],
};

/** Only ovn-controller can put right what has a code here: a repair has nothing to do, and waits for nothing. */
function compareInstalled({ port: name }: OvsPortInstalled, row: AnyRow | undefined): Difference | undefined {
  if (row === undefined) return { missing: `there is no port ${name}` };
  if (typeof row['error'] === 'string') return `port ${name}: ${row['error']}`;
  const pairs = pairsOf(row);
  if (pairs.get(INSTALLED) === 'true') return undefined;
  const id = pairs.get('iface-id');
  const words = id === undefined ? 'which has no iface-id' : `iface-id ${id}`;
  const foreign = `ovn-controller has not put in the flows of port ${name} (${words})`;
  return { foreign, code: 'PORT_NOT_INSTALLED' };
}

/** Every kind of Open vSwitch, by name. */
export const switchKinds = {
  'ovs-bridge': bridge,
  'ovs-port': port,
  'ovs-port-ready': portReady,
  'ovs-port-installed': portInstalled,
  'ovs-qos': qos,
  'ovs-queue': queue,
  'ovs-mirror': mirror,
  'ovs-setting': setting,
  'ovs-setting-entry': settingEntry,
} satisfies { [K in keyof SwitchResources]: AnyKindOf<SwitchResources[K]> };

type AnyKindOf<R extends Resource> = RowKind<R> | ReportKind<R> | SettingKind<R>;
