/** The node as the agent makes it, with a policy for each flow: compiler, renderer, engine. */
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine } from '@podwire/engine';
import { createPolicyRenderer, type RenderedDelta } from '@podwire/network-policy';
import { planSources, podLinkPrefix } from '@podwire/network-traffic';
import { createCompiler, type InputChange } from '@podwire/policy';
import { planNode, planPod, viewOf } from '../../cluster/podwire-pair.js';
import { label, podInput, policyInput } from '../inputs.js';
import { type AllowedFlow, createNode, describeFlows, type PolicedPods } from './one-node.js';

const here = 'here';
const namespace = 'shop';
const call = () => ({ signal: AbortSignal.timeout(60_000) });

/** @param count of policies that select the server; the last by name lets the client in */
export async function makePoliced(count: number): Promise<PolicedPods> {
  const node = await createNode('policed');
  const engine = createEngine({ backends: createLinuxBackends(openKernel(node.namespace)) });
  const renderer = createPolicyRenderer({ podLinkPrefixes: [podLinkPrefix], logGroup: 1, planSources });
  const { underlay: _, ...view } = viewOf(1, 'direct');
  const exchange = async ({ add, remove }: RenderedDelta): Promise<void> =>
    engine.change({ owner: 'policy' }, { replace: add, remove }, call());
  await engine.apply({ owner: 'node', resources: planNode(view) }, call());
  await exchange(renderer.start());
  const [client, server] = [planPod(node, view, 1, 2), planPod(node, view, 1, 3)];
  const flows = describeFlows(count, client.addresses[0]!);
  const inputs: InputChange[] = [
    pod('client', here, { team: `flow-${count - 1}` }, client.addresses),
    pod('server', here, { app: 'web' }, server.addresses),
    ...flows
      .slice(0, -1)
      .map(({ source }, index) => pod(`other-${index}`, 'far', { team: `flow-${index}` }, [source])),
    ...flows.map(policyAt),
  ];
  const links = [client, server].map(({ link, addresses }, index) => ({
    link,
    value: { link, addresses, endpoint: `${namespace}/${index === 0 ? 'client' : 'server'}` },
  }));
  const delta = createCompiler({ node: here }).apply(inputs);
  await exchange(renderer.apply(delta, links));
  for (const { owned } of [client, server]) await engine.apply(owned, call());
  const close = async (): Promise<void> => {
    await engine.close();
    await node.close();
  };
  return {
    ...{ node, client: client.namespace, server: server.namespace, close },
    ...{ address: server.addresses[0]!, port: flows.at(-1)?.port ?? 8_000 },
  };
}

const pod = (
  name: string,
  on: string,
  labels: Readonly<Record<string, string>>,
  addresses: readonly string[],
): InputChange => podInput(namespace, name, on, { labels, addresses });

function policyAt({ port }: AllowedFlow, index: number): InputChange {
  const subject = { namespaces: { is: 'all' }, pods: label('app', 'web') } as const;
  const name = `policy-${String(index).padStart(5, '0')}`;
  return policyInput(namespace, name, subject, { port, pods: label('team', `flow-${index}`) });
}
