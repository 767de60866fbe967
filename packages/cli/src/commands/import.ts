import fs from 'node:fs';
import type { DumpFile, ImportPlan } from '@podwire/calico-import';
import { PodwireError } from '@podwire/errors';
import type { Command } from 'commander';
import { locateCluster, addStore } from '../cluster/options.js';
import { withSlowProgress } from '../cluster/slow-progress.js';
import { withNewStore } from '../cluster/with-store.js';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { type Io, writeJson, writeLines } from '../io.js';

export function define(command: Command, io: Io): void {
  command.description("Takes over what another system keeps about pods' addresses, and its policies.");
  const calico = command
    .command('calico')
    .summary('pools, blocks, live addresses and policies of a Calico datastore')
    .description(
      'Reads dumps of a Calico datastore (`etcdctl get --prefix /calico/`, plain or with -w json; or custom resources as YAML or JSON) and writes its pools, blocks, addresses in use and policies into the store. Nothing is written unless the whole dump is valid. Existing objects must be equal, so an import can be repeated.',
    )
    .argument('<file...>', 'all of one datastore; - is standard input')
    .option(
      '--network <name>',
      "the network of the agents' configuration whose pods get addresses of the pools",
      'default',
    )
    .option('--dry-run', 'show what would be written, also without a store')
    .action((files: readonly string[]) => importCalico(calico, io, files));
  addOutput(addStore(calico), ['text', 'wide', 'json']);
  addExamples(calico, [
    ['etcdctl get --prefix /calico/ -w json >calico.json', 'with Calico on etcd'],
    [
      'kubectl get ippools,ipreservations,ipamconfigs,blockaffinities,ipamblocks,ipamhandles,nodes -o json >calico.json',
      'with Calico on Kubernetes',
    ],
    ['podwire import calico calico.json --dry-run', ''],
    ['podwire import calico calico.json --store etcd://10.0.0.5', ''],
  ]);
}

interface Options {
  readonly network: string;
  readonly dryRun?: boolean;
}

async function importCalico(command: Command, io: Io, files: readonly string[]): Promise<void> {
  const { network, dryRun = false } = optionsOf(command) as unknown as Options;
  const texts = files.map(readFile);
  const isCompared = !dryRun || (await locateCluster(command, io)) !== undefined;
  if (!isCompared) return showPlan(command, io, await planAlone(texts, network), { written: undefined });
  const { applyImport, planImport, readCalicoDump, readImportState, requireValid } =
    await import('@podwire/calico-import');
  const result = await withNewStore(command, io, async ({ store, keys, clock }, signal) =>
    withSlowProgress(io, dryRun ? 'comparing' : 'importing', async () => {
      const state = await readImportState(store, keys, signal);
      const plan = planImport(readCalicoDump(texts), state, { network });
      requireValid(plan);
      return { plan, written: dryRun ? undefined : await applyImport(plan, { store, clock, signal }) };
    }),
  );
  return showPlan(command, io, result.plan, result);
}

/** Compared with nothing: everything is new. */
async function planAlone(texts: readonly DumpFile[], network: string): Promise<ImportPlan> {
  const [{ emptyState, planImport, readCalicoDump, requireValid }, { keysBelow }] = await Promise.all([
    import('@podwire/calico-import'),
    import('@podwire/cluster-state'),
  ]);
  const plan = planImport(readCalicoDump(texts), emptyState(keysBelow('/podwire')), { network });
  requireValid(plan);
  return plan;
}

async function showPlan(
  command: Command,
  io: Io,
  plan: ImportPlan,
  { written }: { readonly written: number | undefined },
): Promise<void> {
  const { importJson, importLines } = await import('../cluster/import-plan.js');
  if (outputOf(command) === 'json') return writeJson(io, importJson(plan, written));
  return writeLines(io, importLines(plan, written, io));
}

function readFile(name: string): DumpFile {
  try {
    return {
      name: name === '-' ? 'standard input' : name,
      text: fs.readFileSync(name === '-' ? 0 : name, 'utf8'),
    };
  } catch (cause) {
    throw new PodwireError('IMPORT_INVALID', `${name}: cannot be read`, { cause, action: null });
  }
}
