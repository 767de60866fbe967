/** The configuration of a running agent, in words. */
import type { ConfigurationView } from '../api/shapes.js';
import { printable } from '../io.js';
import { formatAge } from './times.js';

/** Enough to compare two nodes by eye. */
const shownHash = 12;

/** `/etc/podwire/agent.yaml, loaded 3m ago, sha256 1a2b3c4d5e6f` */
export function describeLoaded({ file, hash, loadedAt }: ConfigurationView, now: number): string {
  const where = file === null ? 'no file, all default' : printable(file);
  const age = formatAge(now - Date.parse(loadedAt));
  const digest = file === null || hash === null ? '' : `, sha256 ${hash.slice(0, shownHash)}`;
  return `${where}, loaded ${age} ago${digest}`;
}
