/** A node of OVN: Open vSwitch with its datapath in user space, and ovn-controller, in the namespace of a machine. */
import { switchLinkFeature } from '@podwire/linux';
import type { ClusterHost } from '../cluster.js';
import type { TestNamespace } from '../namespaces.js';
import { OpenVSwitch } from '../openvswitch.js';
import type { RunningProcess } from '../processes.js';
import type { OvnCentral } from './central.js';

export interface OvnNodeOptions {
  /** The name of the chassis, and of the machine. */
  readonly name: string;
  readonly host: ClusterHost;
  readonly central: OvnCentral;
  /** Of the tunnels to other nodes; `geneve` when absent. */
  readonly encapsulation?: 'geneve' | 'vxlan';
  /** The link that tunnels leave by, and the address that the bridge `br-phy` gets; those of `eth0` when absent. */
  readonly cable?: Cable;
}

export interface Cable {
  readonly link: string;
  /** ADDRESS/LENGTH */
  readonly ipv4: string;
}

export interface OvnPodOptions {
  /** The name of its logical switch port. */
  readonly port: string;
  readonly mac: string;
  /** ADDRESS/LENGTH */
  readonly address: string;
  readonly gateway: string;
}

/** bytes; 1500 of the wire without the headers of geneve, with room for its options. */
const MTU = 1_400;

export class OvnNode {
  readonly name: string;
  readonly host: ClusterHost;
  /** `br-int` is OVN's bridge; `br-phy` has the cable, and the address that tunnels come from. */
  readonly switch: OpenVSwitch;
  readonly #cable: Cable;
  #controller: RunningProcess | undefined;
  #links = 0;

  private constructor({ name, host, cable }: OvnNodeOptions, own: OpenVSwitch) {
    this.name = name;
    this.host = host;
    this.#cable = cable ?? { link: 'eth0', ipv4: host.ipv4 };
    this.switch = own;
  }

  /** Starts Open vSwitch and ovn-controller. The address moves from the cable to the bridge `br-phy`. */
  static async start(options: OvnNodeOptions): Promise<OvnNode> {
    const node = new OvnNode(options, await OpenVSwitch.start(options.host.namespace));
    try {
      await node.#moveCable();
      await node.#configure(options);
      await node.startController();
      // From then on the node is one of those that have to follow.
      await options.central.sbctl('wait-until', 'Chassis_Private', options.name);
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  /** Starts ovn-controller. Resolves when it is connected to the bridge `br-int`. */
  async startController(): Promise<void> {
    // Version 23.03 refuses --unixctl; its socket has the process id in its name.
    const flags = ['--no-chdir', '--verbose=console:info', '--pidfile'];
    const argv = ['ovn-controller', ...flags, this.switch.database.endpoint];
    this.#controller = this.host.namespace.start(argv, { env: this.#env });
    await this.#controller.waitForOutput(/br-int\.mgmt: connected/);
  }

  /** Ends ovn-controller without a word. */
  async killController(): Promise<void> {
    this.#controller?.kill('SIGKILL');
    await this.#controller?.exited;
  }

  /** Stops its execution; connections stay open. */
  freezeController(): void {
    this.#controller?.freeze();
  }

  thawController(): void {
    this.#controller?.kill('SIGCONT');
  }

  /** A namespace that is joined to the port of a logical switch. Resolves when ovn-controller has made the port's flows. */
  async addPod({ port, mac, address, gateway }: OvnPodOptions): Promise<TestNamespace> {
    const pod = this.host.addPod(port);
    const link = `pod${(this.#links += 1)}`;
    const wire = `link add ${link} mtu ${MTU} type veth peer name eth0 mtu ${MTU}`;
    await this.host.namespace.ip(
      `${wire} address ${mac} netns ${pod.name}`,
      `link set ${link} addrgenmode none`,
      `link set ${link} up`,
    );
    await pod.ip(
      ...['link set lo up', 'link set eth0 addrgenmode none', 'link set eth0 up'],
      ...[`addr add ${address} dev eth0`, `route add default via ${gateway}`],
    );
    sendWholeChecksums(pod);
    await this.switch.vsctl(
      ...['add-port', 'br-int', link, '--', 'set', 'Interface', link, `external_ids:iface-id=${port}`],
    );
    await this.switch.vsctl('wait-until', 'Interface', link, 'external_ids:ovn-installed=true');
    return pod;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.killController()]);
    await this.switch.close();
  }

  /** Tunnels of this datapath leave by a bridge that has the address itself, and find neighbours there. */
  async #moveCable(): Promise<void> {
    const { namespace } = this.host;
    const { link, ipv4 } = this.#cable;
    await this.switch.vsctl(
      ...['add-br', 'br-phy', '--', 'set', 'Bridge', 'br-phy', 'datapath_type=netdev'],
      ...['--', 'add-port', 'br-phy', link],
    );
    await namespace.ip(
      ...[`addr flush dev ${link}`, 'link set br-phy addrgenmode none', 'link set br-phy up'],
      `addr add ${ipv4} dev br-phy`,
    );
    sendWholeChecksums(namespace, link);
  }

  async #configure({ name, central, encapsulation = 'geneve' }: OvnNodeOptions): Promise<void> {
    const ids = {
      ...{ 'system-id': name, hostname: name, 'ovn-remote': central.southbound.endpoint },
      ...{ 'ovn-encap-type': encapsulation, 'ovn-encap-ip': this.#cable.ipv4.split('/')[0]! },
      'ovn-bridge-datapath-type': 'netdev',
    };
    await this.switch.vsctl(
      ...['add-br', 'br-int', '--', 'set', 'Bridge', 'br-int', 'datapath_type=netdev', 'fail_mode=secure'],
      ...['--', 'set', 'Open_vSwitch', '.'],
      ...Object.entries(ids).map(([key, value]) => `external_ids:${key}="${value}"`),
    );
  }

  get #env(): NodeJS.ProcessEnv {
    const { runDir } = this.switch;
    const own = { OVS_RUNDIR: runDir, OVN_RUNDIR: runDir, OVN_LOGDIR: runDir, OVN_SYSCONFDIR: runDir };
    return { ...process.env, ...own };
  }
}

/** The datapath in user space passes packets on as they are: half a checksum of TCP would stay half. */
const sendWholeChecksums = (namespace: TestNamespace, link = 'eth0'): void =>
  namespace.inside(() => switchLinkFeature(link, 'tx-checksumming', false));
