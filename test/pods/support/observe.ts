/** View of a manifest from outside, as plain data that is the same wherever it runs. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PodView } from '@podwire/podlet';
import { worldAddresses } from '@podwire/testkit';
import { addressOf, isReady } from './board.js';
import { podwire, type Setup } from './setups.js';
import { expected } from './ten-manifests.js';

type ContainerView = PodView['status']['containerStatuses'][number];

/** `Running ready; init a exit 0 Completed; b running, restarted 1` */
export function describePod(pod: PodView): string {
  const { phase, initContainerStatuses, containerStatuses } = pod.status;
  return [
    `${phase}${isReady(pod) ? ' ready' : ''}`,
    ...initContainerStatuses.map((one) => `init ${describeContainer(one)}`),
    ...containerStatuses.map(describeContainer),
  ].join('; ');
}

function describeContainer({ name, state, restartCount }: ContainerView): string {
  const { terminated, running } = state;
  const ended = terminated === undefined ? undefined : `exit ${terminated.exitCode} ${terminated.reason}`;
  const is = ended ?? (running === undefined ? 'waiting' : 'running');
  return `${name} ${is}${restartCount === 0 ? '' : `, restarted ${restartCount}`}`;
}

export function describePods(pods: readonly PodView[]): Record<string, string> {
  const sorted = [...pods].sort((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(sorted.map((pod) => [pod.name, describePod(pod)]));
}

export async function observe(setup: Setup, pods: readonly PodView[]): Promise<unknown> {
  const full = pods.find(({ name }) => name === 'full');
  const address = full === undefined ? '' : addressOf(full);
  return {
    pods: describePods(pods),
    files: readOut(setup, full),
    logs: await untilLogged(pods),
    answers: await askAround(setup, address),
    shaped: await isShaped(setup),
  };
}

/** Lines of the files that the pod has written; resolv.conf has no order between its keywords. */
function readOut({ out }: Setup, full: PodView | undefined): Record<string, string[]> {
  const addresses = full?.status.podIPs.map(({ ip }) => ip) ?? [];
  const named = (line: string): string =>
    addresses.reduce((text, ip) => text.replaceAll(ip, 'THE ADDRESS'), line);
  const read = (name: string): string[] =>
    fs.readFileSync(path.join(out, name), 'utf8').trim().split('\n').map(named);
  return Object.fromEntries(
    Object.keys(expected.files).map((name) => {
      const lines = read(name);
      if (name === 'resolv.conf') return [name, lines.map((line) => line.trim()).sort()];
      return [name, name === 'hosts' ? [...new Set(lines)] : lines];
    }),
  );
}

/** Docker's logs reach their files a moment later. What is not there in the end is for the comparison to tell. */
async function untilLogged(pods: readonly PodView[]): Promise<Record<string, string[]>> {
  const count = (logs: Readonly<Record<string, readonly string[]>>): number =>
    Object.values(logs).flat().filter(Boolean).length;
  for (const end = performance.now() + 5_000; ; await sleep(20)) {
    const logs = readLogs(pods);
    if (count(logs) >= count(expected.logs) || performance.now() > end) return logs;
  }
}

/** `stdout text`, by the latest instance: CRI's format is time, stream, tag, text. */
function readLogs(pods: readonly PodView[]): Record<string, string[]> {
  const find = (key: string): string | undefined => {
    const [podName, container] = key.split('/');
    const found = pods.find(({ name }) => name === podName);
    return found?.containers.find(({ name }) => name === container)?.logPath;
  };
  return Object.fromEntries(
    Object.keys(expected.logs).map((key) => {
      const file = find(key);
      const text = file === undefined ? '' : fs.readFileSync(file, 'utf8');
      const lines = text.trim().split('\n');
      const shown = lines.map((line) => line.replace(/^\S+ (stdout|stderr) F /, '$1 '));
      // Two streams have no order between them.
      return [key, shown.sort((one, other) => (one < other ? 1 : -1))];
    }),
  );
}

async function askAround(setup: Setup, address: string): Promise<Record<string, string>> {
  const { host } = setup;
  const wget = (url: string): string[] => ['busybox', 'wget', '-qO-', url];
  const get = async (asking: Promise<string>): Promise<string> => {
    try {
      return (await asking).trim();
    } catch (error) {
      return String(error);
    }
  };
  const fromPod = (name: string, url: string): Promise<string> =>
    host.run([
      ...podwire,
      'exec',
      '--directory',
      setup.directory,
      `pod/shop/${name}`,
      '--',
      '/bin/busybox',
      ...wget(url).slice(1),
    ]);
  const { ipv4 } = worldAddresses.host;
  const pages = {
    'the machine, the sidecar’s file': host.run(wget(`http://${address}/sidecar.html`)),
    'the machine, the hook’s file': host.run(wget(`http://${address}/hook.html`)),
    'another pod': fromPod('client', `http://${address}/late.html`),
    'the pod itself': fromPod('full', `http://${address}/late.html`),
    'the world, a port of the host': host.world!.run(wget(`http://${ipv4}:8080/late.html`)),
    'the machine, a port of 127.0.0.1': host.run(wget('http://127.0.0.1:8080/late.html')),
    'the world, a pod in the host’s network': host.world!.run(wget(`http://${ipv4}:8181/`)),
    'a pod, a pod in the host’s network': fromPod('client', `http://${ipv4}:8181/`),
  };
  const entries = Object.entries(pages).map(async ([name, asking]) => [name, await get(asking)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** A token bucket on the way into the pod, and one on the way out of it. */
async function isShaped({ host }: Setup): Promise<boolean> {
  const qdiscs = JSON.parse(await host.run(['tc', '-j', 'qdisc', 'show'])) as { kind: string }[];
  return qdiscs.filter(({ kind }) => kind === 'tbf').length === 2;
}
