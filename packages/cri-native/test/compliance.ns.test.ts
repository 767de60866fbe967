/** The suite that every runtime of ours is live to. */
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { testCompliance } from '@podwire/cri-compliance';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import { createNativeRuntime } from '@podwire/cri-native';
import { buildPauseProgram, createDirectories, pauseProgram } from './fixture.js';

/** Every name stands for the host's root here, so none is absent; images.test.ts and runtime.ns.test.ts say what is instead. */
const aboutAbsentImages = new Set([
  'an image that is not there is no error, and is removed without one',
  'lists of images have those of a name only, when asked',
  'a container needs a sandbox, an image and a configuration',
]);

testCompliance(
  {
    describe: (name, body) => void describe(name, body),
    test: (name, body) => void (aboutAbsentImages.has(name) || test(name, body)),
    before,
    after,
  },
  {
    name: 'the embedded runtime',
    // The fake network hands out addresses, and nothing can be sent to them.
    lacks: ['traffic', 'removable image'],
    open: async () => {
      buildPauseProgram();
      const place = createDirectories();
      const runtime = await createNativeRuntime({
        directory: place.state,
        netnsDirectory: place.netns,
        network: createFakePodNetwork(),
        pauseProgram,
      });
      return {
        runtime,
        image: 'busybox:1',
        directory: place.logs,
        close: async () => {
          await runtime.close();
          fs.rmSync(place.directory, { recursive: true });
        },
      };
    },
  },
);
