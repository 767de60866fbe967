#!/usr/bin/env node
// A chained plugin: writes "address name" of each pod into a folder, as dnsmasq's --hostsdir reads it.
import fs from 'node:fs';
import path from 'node:path';
import {
  type AttachmentRequest,
  CniError,
  convertResult,
  errorCodes,
  runPlugin,
  selectCniArgs,
} from '@podwire/cni';

function fileOf({ config, containerId, interfaceName }: AttachmentRequest): string {
  if (typeof config['directory'] !== 'string')
    throw new CniError(errorCodes.invalidNetworkConfig, 'pod-names needs "directory"');
  return path.join(config['directory'], `${config.name}-${containerId}-${interfaceName}`);
}

function prevResultOf({ prevResult }: AttachmentRequest) {
  if (prevResult) return prevResult;
  throw new CniError(errorCodes.invalidNetworkConfig, 'pod-names must come after another plugin');
}

function linesFor(request: AttachmentRequest): string {
  const { K8S_POD_NAME: name = request.containerId } = selectCniArgs(
    [...request.args, ['IgnoreUnknown', '1']],
    ['K8S_POD_NAME'],
  );
  const { ips = [] } = convertResult(prevResultOf(request));
  return ips.map(({ address }) => `${address.split('/')[0]} ${name}\n`).join('');
}

await runPlugin({
  about: 'pod-names: host names for dnsmasq; an example of @podwire/cni',
  add(request) {
    const file = fileOf(request);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, linesFor(request));
    return prevResultOf(request); // changes nothing that a result could tell
  },
  del(request) {
    fs.rmSync(fileOf(request), { force: true });
  },
  check(request) {
    const file = fileOf(request);
    if (!fs.existsSync(file)) throw new CniError(100, `${file} is missing`);
    if (fs.readFileSync(file, 'utf8') !== linesFor(request)) throw new CniError(100, `${file} was changed`);
  },
});
