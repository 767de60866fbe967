#!/usr/bin/env node
/**
 * Writes the pictures of docs/dashboard.md: a testbed of four nodes, its dashboard, and Chromium. Needs root and
 * `npm run setup -- --for test`. Takes about a minute, most of it until a node that was cut off counts as unreachable.
 *
 *   node scripts/pictures/dashboard.mjs [DIRECTORY]
 */
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../..');
const directory = path.resolve(process.argv[2] ?? path.join(root, 'docs/pictures'));
const program = path.join(root, 'bin/podwire');
const name = 'pictures';
/** Bytes: the pictures are part of every clone. */
const largest = 150_000;

async function podwire(...argv) {
  const options = { timeout: 120_000, maxBuffer: 16 << 20 };
  return (await promisify(execFile)(program, argv, options)).stdout;
}

const inTestbed = (where, ...argv) => podwire('testbed', 'exec', '--name', name, where, '--', ...argv);

/** A test that finds something ends with code 4. */
const testConnectivity = () =>
  podwire('connectivity', 'test', '--testbed', name, '--deadline', '300').catch(() => undefined);

/** The server, and the URL that it prints. */
function startServer() {
  const server = spawn(program, ['dashboard', '--testbed', name, '-o', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    let text = '';
    server.once('error', reject);
    server.once('exit', () => reject(new Error('the dashboard has ended')));
    server.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
      const url = /"url": "([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve({ server, url });
    });
  });
}

async function takePicture(browser, url, { file, colorScheme, height = 800, steps }) {
  const context = await browser.newContext({ viewport: { width: 1280, height }, colorScheme });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector('.tile');
  await steps(page);
  const target = path.join(directory, file);
  await page.screenshot({ path: target, animations: 'disabled' });
  await context.close();
  const { size } = fs.statSync(target);
  if (size > largest) throw new Error(`${target} has ${size} bytes, more than ${largest}`);
  console.log(`${target}  ${Math.round(size / 1_000)} kB`);
}

async function openPod(page, pod, tab) {
  await page.keyboard.press('2');
  await page.click(`text=${pod}`);
  await page.waitForSelector('.path');
  if (tab !== undefined) await page.click(`#tab-${tab}`);
}

const well = [
  { file: 'dashboard-path.png', colorScheme: 'light', steps: (page) => openPod(page, 'pod2a') },
  {
    file: 'dashboard-trace.png',
    colorScheme: 'dark',
    steps: async (page) => {
      await openPod(page, 'pod2a', 'trace');
      await page.waitForSelector('.waterfall');
    },
  },
];

const cutOff = [
  {
    file: 'dashboard.png',
    colorScheme: 'light',
    height: 900,
    steps: (page) => page.waitForSelector('text=unreachable', { timeout: 90_000 }),
  },
  {
    file: 'dashboard-matrix.png',
    colorScheme: 'dark',
    steps: async (page) => {
      await page.keyboard.press('5');
      await page.waitForSelector('.matrix .bad');
    },
  },
];

async function takeAll(browser, url) {
  for (const picture of well) await takePicture(browser, url, picture);
  // Another program removes a route, and a cable is pulled.
  await inTestbed('node1', 'ip', '-4', 'route', 'flush', 'proto', '157', 'scope', 'link');
  await inTestbed('node1', 'podwire', 'reconcile');
  await inTestbed('fabric', 'ip', 'link', 'set', 'node4', 'down');
  await testConnectivity();
  for (const picture of cutOff) await takePicture(browser, url, picture);
}

fs.mkdirSync(directory, { recursive: true });
await podwire('testbed', 'up', '--name', name, '--nodes', '4', '--subnets', '2');
try {
  await testConnectivity();
  const { server, url } = await startServer();
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
  try {
    await takeAll(browser, url);
  } finally {
    await browser.close();
    server.kill('SIGTERM');
  }
} finally {
  await podwire('testbed', 'down', '--name', name);
}
