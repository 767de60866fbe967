/** `podwire testbed exec`. */
import type { ChildProcess } from 'node:child_process';
import os from 'node:os';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import {
  environmentOf,
  type FamilyAddresses,
  fabricName,
  openTestbed,
  ovnEnvironmentOf,
  type Testbed,
  type TestbedNamespace,
} from '@podwire/testbed';
import { checkoutFile } from '../checkout.js';
import type { Io } from '../io.js';
import { chooseTestbed } from './choose.js';

export interface ExecCall {
  readonly name: string | undefined;
  readonly where: string;
  readonly argv: readonly string[];
}

export async function execInTestbed(io: Io, { name, where, argv }: ExecCall): Promise<void> {
  const testbed = await openTestbed(await chooseTestbed(io, name));
  try {
    const { namespace, node, gateway } = find(testbed, where);
    const [program = '', ...args] = argv;
    const { agent, openVSwitch, ovnController } = node === undefined ? {} : testbed.node(node);
    const env = {
      ...io.env,
      PATH: `${checkoutFile('bin')}:${io.env['PATH'] ?? ''}`,
      PODWIRE_TESTBED: testbed.name,
      ...compact({ PODWIRE_SOCKET: agent?.apiSocket }),
      ...testbed.ovn?.environment,
      ...(openVSwitch === undefined ? {} : environmentOf(openVSwitch.runDir)),
      // There ovn-appctl(8) asks the ovn-controller of the node.
      ...(ovnController === undefined || openVSwitch === undefined
        ? {}
        : ovnEnvironmentOf(openVSwitch.runDir)),
      ...(gateway === undefined ? {} : { PODWIRE_STORE: testbed.store.nameFor(gateway) }),
    };
    io.exitCode = await untilEnd(io, namespace.spawn(program, args, { stdio: 'inherit', env }));
  } finally {
    await testbed.release();
  }
}

interface Place {
  readonly namespace: TestbedNamespace;
  /** Whose agent is asked. */
  readonly node?: string;
  /** Where the store is; pods have no business with it. */
  readonly gateway?: FamilyAddresses;
}

function find(testbed: Testbed, where: string): Place {
  const [segment] = testbed.topology.segments;
  if (where === fabricName) return { namespace: testbed.fabric, gateway: segment!.gateway };
  const node = testbed.nodes.find((each) => each.name === where);
  if (node !== undefined)
    return { namespace: node.namespace, node: node.name, gateway: node.segment.gateway };
  const found = testbed.pods.filter((pod) => pod.name === where || `${pod.namespace}/${pod.name}` === where);
  if (found.length === 1) return { namespace: found[0]!.network, node: found[0]!.node };
  const names = testbed.nodes.map((each) => each.name);
  const nodes = names.length > 3 ? `${names[0]} to ${names.at(-1)}` : names.join(', ');
  const message =
    found.length === 0
      ? `the testbed ${testbed.name} has no node or pod ${where}; nodes are ${nodes}, and podwire testbed status lists the pods`
      : `${where} may be any of ${found.map((pod) => `${pod.namespace}/${pod.name}`).join(', ')}`;
  throw new PodwireError('TESTBED_FAILED', message);
}

/** As shells end when there is no such program. */
const notFound = 127;

/**
 * The terminal sends Ctrl-C to the program too, which decides; this one waits for its end. What is sent to this process alone is
 * handed on: the program would go on without it.
 */
export async function untilEnd(io: Io, child: ChildProcess): Promise<number> {
  const ignore = (): void => undefined;
  const handOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore).on('SIGQUIT', ignore).on('SIGTERM', handOn).on('SIGHUP', handOn);
  try {
    return await new Promise((resolve) => {
      child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const why = code === 'ENOENT' ? 'there is no such program' : message;
        io.stderr.write(`cannot start ${child.spawnfile}: ${why}\n`);
        resolve(notFound);
      });
      child.once('exit', (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])),
      );
    });
  } finally {
    process.off('SIGINT', ignore).off('SIGQUIT', ignore).off('SIGTERM', handOn).off('SIGHUP', handOn);
  }
}
