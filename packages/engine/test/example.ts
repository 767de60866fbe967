import fs from 'node:fs';
import path from 'node:path';
import { createEngine, type Owned } from '@podwire/engine';
import { createFileBackend } from './file-backend.js';

/** Applies a directory with a setting, damages it, repairs it and takes it away. @returns what was done, in words */
export async function keepSettings(root: string): Promise<string[]> {
  const engine = createEngine({ backends: [createFileBackend(root)] });
  const signal = AbortSignal.timeout(10_000);
  const web: Owned = {
    owner: 'web',
    resources: [
      { kind: 'directory', name: 'web' },
      { kind: 'setting', directory: 'web', name: 'colour', value: 'blue' },
    ],
  };
  await engine.apply(web, { signal });

  fs.writeFileSync(path.join(root, 'web', 'settings'), 'colour=red # podwire\n');
  const drifts = await engine.verify(web, { signal });
  const repairs = await engine.reconcile([web], { signal });
  const pruned = await engine.reconcile([], { signal });
  await engine.close();
  return [
    ...drifts.map(({ state, detail }) => `${state}: ${detail}`), // changed: colour is red
    ...repairs.map(({ action, what }) => `${action}: ${what}`), // repaired: setting colour=blue in web
    ...pruned.map(({ action, what }) => `${action}: ${what}`), // removed: directory web, …
  ];
}
