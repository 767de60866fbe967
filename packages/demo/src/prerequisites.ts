import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { findProgram, isExecutable, programDirectories } from '@podwire/linux';
import { checkoutFile } from '@podwire/cli/command';
import { defaultPluginPath } from '@podwire/cli/pods';

/** Programs that the demo starts, by absolute path. */
export interface Programs {
  readonly ip: string;
  readonly podwire: string;
  /** Directory of the plugin. */
  readonly pluginDirectory: string;
}

/** Where to look; for tests. */
export interface Environment {
  readonly uid: number | undefined;
  readonly directories: readonly string[];
  /** The checkout's. */
  readonly binDirectory: string;
}

const readEnvironment = (): Environment => ({
  uid: process.getuid?.(),
  directories: programDirectories(),
  binDirectory: checkoutFile('bin'),
});

/** @throws PodwireError PRIVILEGE_MISSING, PREREQUISITE_MISSING */
export function findPrograms(environment: Environment = readEnvironment()): Programs {
  const { uid, directories, binDirectory } = environment;
  if (uid !== 0) {
    throw new PodwireError('PRIVILEGE_MISSING', 'the demo makes network namespaces, which only root may do');
  }
  const ip = requireProgram('ip', 'iproute2', directories);
  requireProgram('nft', 'nftables', directories);
  requireProgram('busybox', 'busybox-static', directories);
  const plugin = path.join(binDirectory, 'podwire-cni');
  if (!isExecutable(plugin)) {
    throw new PodwireError(
      'PREREQUISITE_MISSING',
      `the plugin ${plugin} is not built yet: run "npm run setup"`,
    );
  }
  return { ip, podwire: path.join(binDirectory, 'podwire'), pluginDirectory: binDirectory };
}

/**
 * Programs of a container engine, each with Debian's package of it.
 * @returns their paths
 * @throws PodwireError PREREQUISITE_MISSING naming all packages that are missing
 */
export function requireEngine<Name extends string>(
  engine: string,
  packageOf: Readonly<Record<Name, string>>,
  directories: readonly string[] = [...programDirectories(), ...defaultPluginPath],
): Record<Name, string> {
  const names = Object.keys(packageOf) as Name[];
  const found = names.map((name) => [name, findProgram(name, directories)] as const);
  const missing = found.filter(([, file]) => file === undefined).map(([name]) => packageOf[name]);
  if (missing.length > 0) {
    const message = `the demo on ${engine} needs more programs: apt-get install ${[...new Set(missing)].join(' ')}`;
    throw new PodwireError('PREREQUISITE_MISSING', message);
  }
  return Object.fromEntries(found) as Record<Name, string>;
}

function requireProgram(name: string, debianPackage: string, directories: readonly string[]): string {
  const found = findProgram(name, directories);
  if (found !== undefined) return found;
  const message = `the program ${name} is not installed: apt-get install ${debianPackage}`;
  throw new PodwireError('PREREQUISITE_MISSING', message);
}
