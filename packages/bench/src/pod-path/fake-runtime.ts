/** A runtime in memory on a socket, in a process of its own: `node fake-runtime.js SOCKET`. Tells its parent of the first call. */
import { serveCri } from '@podwire/cri';
import { createFakeRuntime } from '@podwire/cri/fake';
import { busyboxImage } from '@podwire/testkit/containerd';

const socket = process.argv[2]!;
let called = false;
const runtime = createFakeRuntime({
  images: [busyboxImage],
  onCall: () => {
    if (!called) process.stdout.write(`called ${Date.now()}\n`);
    called = true;
  },
});
const server = await serveCri(runtime, { socket });
process.stdout.write('serving\n');
process.once('SIGTERM', () => {
  void server.close().then(() => process.exit(0));
});
