import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadKubeconfig } from '../../src/kubernetes/kubeconfig.js';
import { temporaryDirectories } from '../files/temporary.js';

const temporary = temporaryDirectories();

function write(users: string): string {
  const file = path.join(temporary(), 'config');
  const rest =
    'contexts: [{name: x, context: {cluster: c, user: ""}}]\nclusters: [{name: c, cluster: {server: "http://127.0.0.1:8080/"}}]';
  fs.writeFileSync(file, `current-context: x\n${rest}\n${users}\n`);
  return file;
}

test.each(['', 'users: null', 'users: []'])('nobody in particular: %j', async (users) => {
  expect(await loadKubeconfig(write(users))).toEqual({ server: 'http://127.0.0.1:8080', verify: true });
});
