/** Puts the services in place and takes them away. What the administrator has changed is never overwritten or removed. */
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import {
  ensureFolder,
  type FileChange,
  installFile,
  readIfExists,
  removeFile,
  removeMadeFolder,
} from '../commands/install-files.js';
import {
  type ConfigOptions,
  type InitialFile,
  networkFile,
  podletFolders,
  renderAgentConfig,
  renderPodletConfig,
} from './configs.js';
import type { Systemctl } from './systemctl.js';
import { isOwnUnit, renderUnit, type ServiceName, unitNames, type UnitOptions } from './units.js';

export interface ServiceOptions extends UnitOptions, ConfigOptions {
  readonly services: readonly ServiceName[];
  /** Files go below it; `/` for this machine. */
  readonly prefix: string;
}

const unitFolder = '/etc/systemd/system';

/** Units, and configurations where there are none. @throws PodwireError INSTALL_REFUSED for a unit of others */
export async function writeServices(options: ServiceOptions): Promise<FileChange[]> {
  const at = placeIn(options);
  for (const name of options.services) await refuseForeign(at(path.join(unitFolder, unitNames[name])));
  const changes: FileChange[] = [];
  if (options.services.includes('podlet'))
    for (const folder of podletFolders(options)) changes.push(await ensureFolder(at(folder)));
  for (const { file, text } of initialFiles(options)) {
    changes.push(await ensureFolder(path.dirname(at(file))));
    const isThere = (await readIfExists(at(file))) !== undefined;
    changes.push(
      isThere
        ? { path: at(file), action: 'unchanged' }
        : await installFile(at(file), Buffer.from(text), { mode: 0o644 }),
    );
  }
  changes.push(await ensureFolder(at(unitFolder)));
  for (const name of options.services) {
    const file = at(path.join(unitFolder, unitNames[name]));
    changes.push(await installFile(file, Buffer.from(renderUnit(name, options)), { mode: 0o644 }));
  }
  return changes;
}

/** Enables and starts them; one that runs is started again when its unit is another one. */
export async function startServices(
  systemctl: Systemctl,
  services: readonly ServiceName[],
  changes: readonly FileChange[],
): Promise<void> {
  await systemctl('daemon-reload');
  for (const name of services) {
    const unit = unitNames[name];
    const isNew = changes.some(({ path: file, action }) => file.endsWith(unit) && action !== 'unchanged');
    await systemctl('enable', unit);
    await systemctl(isNew ? 'restart' : 'start', unit);
  }
}

/** Stops and disables what is there. Pods and their network stay. */
export async function stopServices(systemctl: Systemctl, options: ServiceOptions): Promise<void> {
  const at = placeIn(options);
  for (const name of options.services.toReversed()) {
    const text = await readIfExists(at(path.join(unitFolder, unitNames[name])));
    if (text !== undefined && isOwnUnit(text.toString()))
      await systemctl('disable', '--now', unitNames[name]);
  }
}

/** Units, and configurations that are still as they were written. */
export async function removeServices(options: ServiceOptions): Promise<FileChange[]> {
  const at = placeIn(options);
  const changes: FileChange[] = [];
  for (const name of options.services) {
    const file = at(path.join(unitFolder, unitNames[name]));
    changes.push(await removeIf(file, (text) => isOwnUnit(text)));
  }
  const files = initialFiles(options);
  for (const { file, text } of files) changes.push(await removeIf(at(file), (found) => found === text));
  const podlet = options.services.includes('podlet') ? podletFolders(options) : [];
  const folders = [...podlet, ...files.map(({ file }) => path.dirname(file)), unitFolder];
  // The last one that was made comes first: those above it belong to an earlier one.
  for (const folder of new Set(folders.toReversed())) changes.push(...(await removeMadeFolder(at(folder))));
  return changes;
}

export async function reloadAfterRemoval(
  systemctl: Systemctl,
  services: readonly ServiceName[],
): Promise<void> {
  await systemctl('daemon-reload');
  // One that failed would be listed for ever.
  for (const name of services) await systemctl('reset-failed', unitNames[name]).catch(() => undefined);
}

function initialFiles(options: ServiceOptions): InitialFile[] {
  const agent = { file: options.agentConfig, text: renderAgentConfig(options) };
  const podlet = { file: options.podletConfig, text: renderPodletConfig(options) };
  return [
    ...(options.services.includes('agent') ? [agent] : []),
    ...(options.services.includes('podlet') ? [podlet, networkFile(options)] : []),
  ];
}

const placeIn =
  ({ prefix }: ServiceOptions) =>
  (file: string): string =>
    path.join(prefix, file);

async function refuseForeign(file: string): Promise<void> {
  const text = await readIfExists(file);
  if (text === undefined || isOwnUnit(text.toString())) return;
  throw new PodwireError('INSTALL_REFUSED', `${file} was not written by Podwire`, { details: { file } });
}

async function removeIf(file: string, isOurs: (text: string) => boolean): Promise<FileChange> {
  const text = await readIfExists(file);
  if (text === undefined) return { path: file, action: 'absent' };
  return isOurs(text.toString()) ? removeFile(file) : { path: file, action: 'kept' };
}
