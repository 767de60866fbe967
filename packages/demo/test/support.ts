import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** A directory that goes with the test that makes it, or else with the tests of the file. */
export function makeTemporaryDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-demo-'));
  const remove = (): void => fs.rmSync(directory, { recursive: true, force: true });
  try {
    onTestFinished(remove);
  } catch {
    // No test runs: the file is being collected.
    afterAll(remove);
  }
  return directory;
}

export interface FakePodAgent {
  readonly socket: string;
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** A pod agent that answers its status and fails all other requests. */
export async function startFailingPodAgent(): Promise<FakePodAgent> {
  const socket = path.join(makeTemporaryDirectory(), 'api.sock');
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.url === '/v1/status') response.writeHead(200).end('{}');
    else response.writeHead(404).end('{"error":{"message":"unknown"}}');
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return { socket, requests, close: () => new Promise((resolve) => void server.close(() => resolve())) };
}
