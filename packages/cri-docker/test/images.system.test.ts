/** Pulls from a registry on loopback, which Docker takes without TLS. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { CriError } from '@podwire/cri';
import { Docker } from '@podwire/cri-docker';
import { createImagePuller } from '../src/images/pull.js';
import { createSandboxHost, type SandboxHost } from './support/harness.js';
import { type Registry, startRegistry } from './support/registry.js';

let machine: SandboxHost;
let registry: Registry;
before(async () => {
  machine = await createSandboxHost({ name: 'img' });
  registry = await startRegistry(machine.host, 'right:s3cret:word');
});
after(() => machine.close());
afterEach(async () => {
  registry.users.length = 0;
  fs.rmSync(path.join(machine.root, 'config.json'), { force: true });
  await machine.service.stop(); // with what it believed of the file
  await machine.service.start();
});

const image = (name: string) => ({
  image: `${registry.address}/${name}${name.includes('@') ? '' : ':1'}`,
  annotations: {},
  userSpecifiedImage: '',
  runtimeHandler: '',
});
const pull = async (name: string, auth?: object): Promise<string> =>
  (await machine.cri.pullImage({ image: image(name), auth: auth as never, sandboxConfig: undefined }))
    .imageRef;

/** Longer paths are tried first, so the keys say the order. */
function writeCredentials(entries: Readonly<Record<string, string>>): void {
  const auths = Object.entries(entries).map(([key, pair]) => [
    `${registry.address}${key}`,
    { auth: Buffer.from(pair).toString('base64').replace(/=+$/, '') },
  ]);
  fs.mkdirSync(machine.root, { recursive: true });
  fs.writeFileSync(
    path.join(machine.root, 'config.json'),
    JSON.stringify({ auths: Object.fromEntries(auths) as object }),
  );
}

async function failure(work: Promise<unknown>): Promise<CriError> {
  try {
    await work;
  } catch (error) {
    return error as CriError;
  }
  return assert.fail('it went well');
}

test('the wrong credentials first, then the right ones', async () => {
  writeCredentials({ '/team/app': 'wrong:nothing', '': 'right:s3cret:word' });
  const ref = await pull('team/app');
  assert.match(ref, new RegExp(`^${registry.address}/team/app@sha256:[0-9a-f]{64}$`));
  assert.deepEqual(
    registry.users.filter((user) => user !== '-'),
    ['wrong', 'right'],
  );
  const { image: found } = await machine.cri.imageStatus({ image: image('team/app'), verbose: false });
  assert.deepEqual(found?.repoTags, [image('team/app').image]);
  assert.equal(found.uid?.value, 1234n);
  await machine.cri.removeImage({ image: image('team/app') });
  assert.equal(
    (await machine.cri.imageStatus({ image: image('team/app'), verbose: false })).image,
    undefined,
  );
});

test('an image by its digest has that name and no tag', async () => {
  writeCredentials({ '': 'right:s3cret:word' });
  const [, byDigest = ''] = /^[^/]+\/(.*)$/.exec(await pull('team/app')) ?? [];
  await machine.cri.removeImage({ image: image('team/app') });
  const ref = await pull(byDigest);
  assert.equal(ref, image(byDigest).image);
  const { image: found } = await machine.cri.imageStatus({ image: image(byDigest), verbose: false });
  assert.deepEqual(found?.repoTags, []);
  assert.deepEqual(found.repoDigests, [ref]);
  await machine.cri.removeImage({ image: image(byDigest) });
  assert.equal((await machine.cri.imageStatus({ image: image(byDigest), verbose: false })).image, undefined);
});

test('all wrong: every attempt is told, in its order, and no secret', async () => {
  writeCredentials({ '/team/app': 'first:hush1', '': 'second:hush2' });
  const error = await failure(pull('team/app'));
  assert.match(error.message, /failed to pull .* with any credentials: .*; /);
  assert.deepEqual(
    registry.users.filter((user) => user !== '-'),
    ['first', 'second'],
  );
  assert.doesNotMatch(error.message + machine.service.log(), /hush|s3cret/);
});

test('those of the request come before those of the node', async () => {
  writeCredentials({ '': 'second:hush2' });
  const auth = {
    username: 'right',
    password: 's3cret:word',
    auth: '',
    serverAddress: '',
    identityToken: '',
    registryToken: '',
  };
  await pull('given', auth);
  assert.deepEqual(
    registry.users.filter((user) => user !== '-'),
    ['right'],
  );
});

test('without any it is tried without a name', async () => {
  const error = await failure(pull('nobody'));
  assert.match(error.message, /no basic auth credentials|unauthorized/i);
  assert.deepEqual(registry.users, ['-']);
});

test('a pull that makes no progress for a minute is given up', async () => {
  registry.stalled = true;
  const slept: number[] = [];
  const clock = {
    now: () => 0,
    elapsed: () => 0,
    // The minute is over at once when nothing has come for a second.
    sleep: (milliseconds: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        slept.push(milliseconds);
        const timer = setTimeout(resolve, 1_000);
        signal.addEventListener('abort', () => (clearTimeout(timer), reject(new Error('woken'))), {
          once: true,
        });
      }),
  };
  const auth = { username: 'right', password: 's3cret:word' };
  const log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  };
  const keyring = { lookup: () => [auth] };
  const puller = createImagePuller({
    docker: new Docker(machine.docker.socket),
    credentials: { keyring: () => Promise.resolve(keyring) },
    clock,
    log,
  });
  const span = {
    context: { traceId: '', spanId: '' },
    child: () => span,
    set: () => undefined,
    end: () => undefined,
  };
  const work = { signal: new AbortController().signal, span };
  const error = await failure(puller.pull(image('slow').image, undefined, work));
  assert.match(error.message, /made no progress for 60 s/);
  assert.ok(slept.every((milliseconds) => milliseconds === 60_000));
  registry.stalled = false;
});

test('the file system of the images', async () => {
  const { imageFilesystems } = await machine.cri.imageFsInfo({});
  assert.equal(imageFilesystems[0]?.fsId?.mountpoint, machine.docker.dataRoot);
  assert.ok((imageFilesystems[0]?.usedBytes?.value ?? 0n) > 1_000_000n);
});
