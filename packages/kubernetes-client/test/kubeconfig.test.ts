import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadKubeconfig } from '../src/kubeconfig.js';

function write(users: string): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-kubeconfig-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'config');
  const rest =
    'contexts: [{name: x, context: {cluster: c, user: ""}}]\nclusters: [{name: c, cluster: {server: "http://127.0.0.1:8080/"}}]';
  fs.writeFileSync(file, `current-context: x\n${rest}\n${users}\n`);
  return file;
}

test.each(['', 'users: null', 'users: []'])('a kubeconfig may name no user: %j', async (users) => {
  expect(await loadKubeconfig(write(users))).toMatchObject({ server: 'http://127.0.0.1:8080', verify: true });
});
