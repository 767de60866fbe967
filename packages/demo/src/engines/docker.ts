import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { withDeadline } from '@podwire/platform';
import { requireEngine } from '../prerequisites.js';
import { engineDirectory, startEngineProgram } from './daemon.js';
import type { Engine, EngineCall } from './engine.js';
import { pauseImage, writeImages } from './images.js';

/** Docker Engine, and a containerd for it, with their own files and sockets; without bridge and without rules. */
export async function startDocker(call: EngineCall): Promise<Engine> {
  const { containerd, dockerd, busybox } = requireEngine('docker', {
    dockerd: 'docker.io',
    containerd: 'containerd',
    runc: 'runc',
    busybox: 'busybox-static',
  });
  const directory = engineDirectory(call);
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(at('images'), { recursive: true, mode: 0o700 });
  fs.writeFileSync(at('containerd.toml'), configuration(at));
  fs.writeFileSync(at('daemon.json'), '{}');
  await startEngineProgram(
    call,
    'containerd',
    [containerd, '--config', at('containerd.toml')],
    /containerd successfully booted/,
  );
  await startEngineProgram(call, 'dockerd', [dockerd, ...daemonWords(at)], /API listen on/);
  for (const archive of await writeImages(at('images'), busybox, call.signal))
    await loadImage(at('docker.sock'), archive, call.signal);
  return { runtime: 'docker', more: ['--docker-socket', at('docker.sock'), '--sandbox-image', pauseImage] };
}

type At = (name: string) => string;

function configuration(at: At): string {
  return `version = 2
root = ${JSON.stringify(at('containerd/root'))}
state = ${JSON.stringify(at('containerd/state'))}
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
  address = ${JSON.stringify(at('containerd.sock'))}
`;
}

function daemonWords(at: At): string[] {
  return [
    ...['--host', `unix://${at('docker.sock')}`, '--containerd', at('containerd.sock')],
    ...['--data-root', at('root'), '--exec-root', at('exec'), '--pidfile', at('docker.pid')],
    ...['--config-file', at('daemon.json')],
    ...['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
    // Lowering it needs CAP_SYS_RESOURCE; the daemon's default is -500.
    '--oom-score-adjust=0',
    '--exec-opt=native.cgroupdriver=cgroupfs',
  ];
}

const loadDeadline = 60_000;

/** `docker load`, without needing the docker command. */
function loadImage(socketPath: string, archive: string, signal: AbortSignal): Promise<void> {
  const headers = { 'content-type': 'application/x-tar', 'content-length': fs.statSync(archive).size };
  return withDeadline(
    signal,
    loadDeadline,
    (either) =>
      new Promise((resolve, reject) => {
        const request = http.request(
          { socketPath, method: 'POST', path: '/images/load?quiet=1', headers, agent: false, signal: either },
          (response) => {
            let said = '';
            response.setEncoding('utf8').on('data', (text: string) => (said += text));
            response.once('error', reject);
            response.once('end', () => {
              if (response.statusCode === 200) resolve();
              else reject(new PodwireError('INTERNAL', `docker load: ${response.statusCode} ${said}`));
            });
          },
        );
        request.once('error', reject);
        fs.createReadStream(archive).once('error', reject).pipe(request);
      }),
  );
}
